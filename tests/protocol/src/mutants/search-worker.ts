import { serve } from '../children.ts';
import type { MemoryScope } from '../explore/memory-model.ts';
import type { Scope } from '../explore/model.ts';
import type { Found } from '../explore/search.ts';
import { searchScope } from '../explore/search-scope.ts';
import { loadMutantSearch, mutants } from './load.ts';

/** A scope to search, with core as it is or as a mutant has it. */
export interface SearchTask {
  readonly scope: Scope | MemoryScope;
  readonly mutant: string | undefined;
}

serve(async ({ scope, mutant: name }: SearchTask): Promise<Found> => {
  const mutant = mutants.find((candidate) => candidate.name === name);
  return (mutant ? await loadMutantSearch(mutant) : searchScope)(scope);
});
