import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { isJustOrdered, withRetry } from '../../src/ledger/orders.ts';
import { reconcile } from '../../src/ledger/repair.ts';
import { foreignTerms } from '../../src/ledger/terms.ts';
import { hour, minute } from '../support/instants.ts';
import { attemptAt, recordWith, seenAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { declaredBy } from './support/records.ts';

// The clock of the store was five hours ahead, and is put right.
const now = noon - 5 * hour;
const repaired = (record: LedgerRecord) => reconcile(record, undefined, now, 'new epoch', usual).record;

test('the agreement of somebody else binds for an hour from when the clock was put right', () => {
  const term = { tokens: 10, windowMs: hour, reserve: 0 };
  const record = repaired(recordWith([], { terms: [declaredBy('somebody', term, noon)] }));
  expect([hour - 1, hour].map((ms) => foreignTerms(record, now + ms, usual).length)).toEqual([1, 0]);
});

test('an order to try again is noticed within a minute from when the clock was put right', () => {
  const record = repaired(withRetry(recordWith([]), noon, { id: 'order', by: 'somebody' }));
  const isJustOrderedAfter = (ms: number) => isJustOrdered(record, now + ms);
  expect([minute - 1, minute].map(isJustOrderedAfter)).toEqual([true, false]);
});

test('a record can be written after every repair, however exactly the time was measured', () => {
  const outcome = { kind: 'issued', at: noon, charge: 1, holdUntil: noon + hour };
  const record = recordWith([attemptAt(noon, { outcome })]);
  const lost = recordWith([], { sequence: 8 });
  for (const elapsedMs of [0.5, minute + 0.25])
    for (const [loaded, at] of [record, lost].flatMap((one) =>
      [now, noon + 30 * hour].map((when) => [one, when] as const),
    )) {
      const { record: ready } = reconcile(loaded, seenAt(record, noon, elapsedMs), at, 'new epoch', usual);
      expect(decodeRecord(encodeRecord(ready))).not.toBe('damaged');
    }
});
