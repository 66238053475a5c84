import { describe, expect, test } from 'vitest';
import { holdsOf } from '../../src/ledger/holds.ts';
import { underWayUntil } from '../../src/ledger/pauses.ts';
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

// Processes of `often` died twice, one of `once` died a minute ago. `never` has had each token that it asked for.
function afterDeaths(...later: LedgerRecord['entries']): LedgerRecord {
  const { failures: _, ...record } = afterPause(0);
  const deaths = { count: 3, retryAt: noon + 8 * minute, countedUntil: noon };
  return { ...record, deaths, entries: [...record.entries, ...later] };
}

describe('while processes die', () => {
  const pauseMs = 8 * minute;

  test('all audiences wait, and those whose processes died for longer', () => {
    expect(waits(afterDeaths(), pauseMs)).toEqual([0, 2 * minute, 4 * minute]);
  });

  test('after a token of another audience those whose processes died wait, and nobody else', () => {
    const [never, once, often] = waits(afterDeaths(entryAt(noon - second, { audience: 'never' })), pauseMs);
    expect(never).toBeLessThanOrEqual(-pauseMs);
    expect([once, often]).toEqual([2 * minute, 4 * minute]);
  });

  test('all wait again if processes of one more audience die', () => {
    const token = entryAt(noon - minute, { audience: 'never' });
    const lost = entryAt(noon - second, { audience: 'another', pending: true });
    expect(waits(afterDeaths(token, lost), pauseMs)[0]).toBe(0);
    const lostAgain = entryAt(noon - second, { audience: 'often', pending: true });
    expect(waits(afterDeaths(token, lostAgain), pauseMs)[0]).toBeLessThanOrEqual(-pauseMs);
  });

  test('all wait if what they lost was added up', () => {
    const record = { ...afterDeaths(), entries: [entryAt(noon - 5 * minute, { audience: 'never' })] };
    expect(waits(record, pauseMs)).toEqual([0, 0, 0]);
  });

  test('those whose processes died ask one at a time, and the others need not wait for them', () => {
    const lease = { id: 'under way', generation: noon, until: noon + minute };
    const token = entryAt(noon - minute, { audience: 'never' });
    const underWay = entryAt(noon - second, { id: 'under way', audience: 'often', pending: true });
    const { audiences, ...record } = afterDeaths(token, underWay);
    const leased = audiences.map((state) => (state.audience === 'often' ? { ...state, lease } : state));
    const waitsFor = (name: string, count = 3) =>
      underWayUntil({ ...record, audiences: leased, deaths: { ...record.deaths, count } }, noon, name);
    expect([waitsFor('once'), waitsFor('never')]).toEqual([noon + minute, 0]);
    // One death may be an accident.
    expect(waitsFor('once', 1)).toBe(0);
  });
});
