import { serve } from '../children.ts';
import { type Caught, catches, hunt } from './hunt.ts';
import { mutants } from './load.ts';
import type { Mutant } from './mutant.ts';

/** Without `caught`: look for a seed, among so many. */
export interface MutantTask {
  readonly name: string;
  readonly seeds: number;
  readonly caught: Caught | undefined;
}

serve(async ({ name, seeds, caught }: MutantTask): Promise<Caught | undefined> => {
  const mutant = mutants.find((candidate) => candidate.name === name) as Mutant;
  if (caught === undefined) return hunt(mutant, seeds);
  return (await catches(caught, mutant)) ? caught : undefined;
});
