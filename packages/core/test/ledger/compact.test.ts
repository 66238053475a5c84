import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import type { IssuanceReason, LedgerRecord } from '../../src/ledger/journal.ts';
import { merge } from '../../src/ledger/merge.ts';
import { pace } from '../../src/ledger/pace.ts';
import { hour, minute, second } from '../support/instants.ts';
import { attemptAt, recordWith, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { used } from './support/records.ts';

const paced = (record: LedgerRecord, reason: IssuanceReason) =>
  pace(record, noon, { audience: 'orders', keyId: 'key', secretId: 'secret' }, reason, usual);

/** Tokens of another audience, one every two minutes until an hour ago. */
const tokens = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    attemptAt(noon - hour - index * 2 * minute, { id: `token ${index}`, audience: 'stock' }),
  );

test('copies of a record that are compacted at different times count each token once when they are joined', () => {
  const record = recordWith(tokens(250));
  const copies = [noon, noon + 7 * minute].map((at) => compact(record, at, usual)) as [LedgerRecord, LedgerRecord];
  expect(copies.map(({ buckets }) => buckets.length > 5)).toEqual([true, true]);
  expect(used(merge(...copies), noon, usual)).toBe(250);
});

describe('what was said about the next attempt stays true', () => {
  test('of failures that cost nothing, the newest one says how many there were, though an earlier one became known later', () => {
    const failed = (agoMs: number, knownAgoMs: number, streak: number) =>
      attemptAt(noon - agoMs, {
        until: noon,
        streak,
        outcome: { kind: 'unreached', at: noon - knownAgoMs, charge: 0 },
      });
    const record = recordWith([
      failed(20 * minute, 19 * minute, 5),
      failed(10 * minute, second, 6),
      failed(5 * minute, 4 * minute, 7),
    ]);
    const kept = compact(record, noon, usual);
    expect(kept.attempts.map(({ streak }) => streak)).toEqual([6, 7]);
    expect(paced(kept, 'cold')).toEqual(paced(record, 'cold'));
    expect(paced(kept, 'cold').carried.streak).toBe(8);
  });

  test('renewals after 401s take their share of the window, though later tokens moved them into buckets', () => {
    const renewals = Array.from({ length: 20 }, (_, index) =>
      attemptAt(noon - 20 * hour + index * minute, { reason: 'rejected' }),
    );
    const record = recordWith([...renewals, ...tokens(200)]);
    const kept = compact(record, noon, usual);
    expect(kept.folded['epoch']).toBeGreaterThan(noon - 20 * hour + 20 * minute);
    const [{ until } = { until: 0 }] = paced(kept, 'rejected').holds;
    expect(until).toBeGreaterThan(noon + 4 * hour);
    expect(paced(record, 'rejected').holds).toMatchObject([{ until }]);
  });
});
