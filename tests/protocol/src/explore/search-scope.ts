import { beginningOf, type MemoryScope } from './memory-model.ts';
import { createMemoryMoves } from './memory-moves.ts';
import { beginning, createRecords, type Scope } from './model.ts';
import { createMoves } from './moves.ts';
import { type Found, search } from './search.ts';

/** Searches a scope of the ledger, or of the memory of its processes. Ends at `most` states. */
export function searchScope(scope: Scope | MemoryScope, most?: number): Found {
  const records = createRecords();
  return 'agreements' in scope
    ? search(beginning(scope), createMoves(scope, records), most)
    : search(beginningOf(scope, records), createMemoryMoves(scope, records), most);
}
