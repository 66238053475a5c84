import type { CreateServiceAuth } from '../run.ts';
import { type Change, loadChanged } from './load-changed.ts';

const ledger = (file: string, find: string, replace: string): Change => ({ file: `ledger/${file}`, find, replace });

/** What a later release may add to the form of a record: members, cells at the ends of rows, facts and kinds of outcomes, and kinds of orders. */
const additions: readonly Change[] = [
  ledger(
    'attempt-codec.ts',
    'return attempt.more ? [...cells, ...waited, ...attempt.more] : trimmed([...cells, ...waited]);',
    "return [...cells, ...waited, ...(attempt.more ?? (attempt.instance.startsWith('next') ? [{ zone: 'b' }] : []))];",
  ),
  ledger(
    'settle.ts',
    "return { kind: 'unknown', at: failedAt, charge: 1, status, code,",
    "return { kind: 'lost', at: failedAt, charge: 1, more: { hops: 3 }, status, code,",
  ),
  ledger('merge.ts', 'unknown: 5, issued: 6', 'unknown: 5, lost: 5, issued: 6'),
  ledger('codec.ts', '    ...more,\n    epoch,', "    ...{ region: { name: 'north' }, ...more },\n    epoch,"),
  ledger('codec.ts', '...(term.more ?? [])', "...(term.more ?? [['weekdays']])"),
  ledger('codec.ts', '...(b.more ?? [])', "...(b.more ?? ['sum'])"),
  ledger('codec.ts', '...hashes, ...(more ?? [])];', "...hashes, ...(more ?? ['b64'])];"),
  ledger(
    'decide.ts',
    'return { ...record, attempts: [...record.attempts, { id, ...who, ...when, reason, ...carried }] };',
    `const orders = [...record.orders, { id: 'note ' + id, at: now, kind: 'note', by: instance, more: { text: ['kept'] } }];
  return { ...record, orders, attempts: [...record.attempts, { id, ...who, ...when, reason, ...carried }] };`,
  ),
];

/** Core as a later release may be, built from the present sources. */
export async function loadNextRelease(): Promise<CreateServiceAuth> {
  type Core = { createServiceAuth: CreateServiceAuth };
  return (await loadChanged<Core>('the next release', additions, 'index.ts')).createServiceAuth;
}
