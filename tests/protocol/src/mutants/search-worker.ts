import { serve } from '../children.ts';
import type { Scope } from '../explore/model.ts';
import { type Found, search } from '../explore/search.ts';
import { loadMutantSearch, mutants } from './load.ts';

/** A scope to search, with the ledger as it is or as a mutant has it. */
export interface SearchTask {
  readonly scope: Scope;
  readonly mutant: string | undefined;
}

serve(async ({ scope, mutant: name }: SearchTask): Promise<Found> => {
  const mutant = mutants.find((candidate) => candidate.name === name);
  return (mutant ? await loadMutantSearch(mutant) : search)(scope);
});
