import { serve } from '../children.ts';
import { loadMutantSearch, mutants } from '../mutants/load.ts';
import type { Scope } from './model.ts';
import { type Found, search } from './search.ts';

/** A scope to search, with the ledger as it is or as a mutant has it. */
export interface SearchTask {
  readonly scope: Scope;
  readonly mutant: string | undefined;
}

serve(async ({ scope, mutant: name }: SearchTask): Promise<Found> => {
  const mutant = mutants.find((candidate) => candidate.name === name);
  return (mutant ? await loadMutantSearch(mutant) : search)(scope);
});
