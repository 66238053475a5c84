import { describe, expect, test } from 'vitest';
import { holdsOf } from '../../src/ledger/holds.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { day, minute, noon, second } from '../support/instants.ts';
import { audienceWith, entryAt, failuresWith, recordWith, usualLimits } from '../support/records.ts';

// Two audiences failed: `often` twice, `once` one time. `never` has had each token that it asked for.
function afterPause(pauseMs: number): LedgerRecord {
  const failed = { pending: true, audience: 'often' };
  return recordWith({
    audiences: ['often', 'once', 'never'].map((audience) => audienceWith({ audience })),
    entries: [
      entryAt(noon - 5 * minute, { audience: 'never' }),
      entryAt(noon - 4 * minute, failed),
      entryAt(noon - 3 * minute, { pending: true, audience: 'once' }),
      entryAt(noon - 2 * minute, failed),
    ],
    failures: failuresWith({ audience: 'often', shared: true, failedAt: noon, retryAt: noon + pauseMs }),
  });
}

/** Returns for how long each audience waits after the end of the pause. */
function waits(record: LedgerRecord, pauseMs: number): number[] {
  return ['never', 'once', 'often'].map((name) => {
    const states = record.audiences.filter(({ audience }) => audience === name);
    const untils = holdsOf(record, states, noon, usualLimits).map(({ until }) => until);
    return Math.max(...untils) - noon - pauseMs;
  });
}

describe('after a back-off of all audiences', () => {
  test('those that never failed come first, then those that failed less often', () => {
    expect(waits(afterPause(10 * minute), 10 * minute)).toEqual([0, 2.5 * minute, 5 * minute]);
  });

  test.each([
    [4 * second, 2 * second],
    [10 * minute, 5 * minute],
    [15 * minute, minute / 2],
    [40 * minute, 10 * minute],
    [86 * minute, 15 * minute],
  ])('of %d ms the last one waits for %d ms', (pauseMs, turnMs) => {
    expect(waits(afterPause(pauseMs), pauseMs)).toEqual([0, turnMs / 2, turnMs]);
  });

  test('an audience that had a token since is no audience that failed', () => {
    const record = afterPause(10 * minute);
    const entries = [...record.entries, entryAt(noon - minute, { audience: 'once' })];
    expect(waits({ ...record, entries }, 10 * minute)).toEqual([0, 0, 5 * minute]);
  });

  test('an audience that failed more than two days ago is no audience that fails', () => {
    const record = afterPause(10 * minute);
    const entries = record.entries.map((entry) =>
      entry.audience === 'once' ? { ...entry, at: noon - 2 * day } : entry,
    );
    expect(waits({ ...record, entries }, 10 * minute)).toEqual([0, 0, 5 * minute]);
  });

  test('after a token of another audience those that failed still wait for its end and for their turns, and nobody else waits', () => {
    const record = afterPause(10 * minute);
    const failures = failuresWith({ ...record.failures, shared: false });
    const [never, once, often] = waits({ ...record, failures }, 10 * minute);
    expect(never).toBeLessThanOrEqual(0);
    expect([once, often]).toEqual([2.5 * minute, 5 * minute]);
  });

  test('a failure of a request that is older than the newest token of its audience holds the audience, too', () => {
    const entries = [entryAt(noon - 4 * minute, { pending: true }), entryAt(noon - minute)];
    const audiences = ['orders', 'invoices'].map((audience) => audienceWith({ audience }));
    for (const shared of [true, false]) {
      const failures = failuresWith({ audience: 'orders', shared, failedAt: noon, retryAt: noon + minute });
      const holds = holdsOf(recordWith({ audiences, entries, failures }), audiences.slice(0, 1), noon, usualLimits);
      expect(holds.map(({ kind, until }) => [kind, until])).toContainEqual(['backoff', noon + minute]);
    }
  });

  test('nobody waits for a turn if the endpoint could not be reached', () => {
    const record = afterPause(10 * minute);
    const failures = failuresWith({ ...record.failures, ambiguous: false });
    expect(waits({ ...record, failures }, 10 * minute)).toEqual([0, 0, 0]);
  });
});
