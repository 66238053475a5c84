import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  freeAt,
  leavesAt,
  limitsFor,
  nextBackoff,
  rejectedRoomAt,
  roomAt,
  type StoreDurability,
  sparingMs,
  spent,
} from '../../src/ledger/limits.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import {
  day,
  entriesAt,
  entryAt,
  hour,
  minute,
  noon,
  recordWith,
  second,
  seed,
  usualLimits,
} from '../support/records.ts';

const durabilities: readonly StoreDurability[] = ['process', 'durable', 'replicated'];

describe('limitsFor', () => {
  test('keeps a fifth of 150 back for stores that keep what they acknowledged, and half for asynchronous replicas', () => {
    expect(durabilities.map((durability) => limitsFor(150, day, undefined, durability).usable)).toEqual([120, 120, 75]);
  });

  test('a reserve that is given replaces the one that follows from the store', () => {
    expect(limitsFor(150, day, 0, 'replicated')).toMatchObject({ limit: 150, usable: 150, coldStart: 150 });
    expect(limitsFor(150, day, 149, 'process').usable).toBe(1);
  });

  test('counts settled tokens for 25 hours and 10 minutes, unsettled ones for 27 hours, when the window is a day', () => {
    expect(usualLimits).toMatchObject({ settledMs: 25 * hour + 10 * minute, pendingMs: 27 * hour, windowMs: day });
  });

  test('shrinks what it counts beyond the window with the window, and keeps two minutes for requests under way', () => {
    const hourly = limitsFor(10, hour, undefined, 'durable');
    expect(hourly.settledMs).toBe(hour + hour / 24 + hour / 144);
    expect(hourly.pendingMs).toBe(hour + hour / 24 + hour / 12);
    expect(limitsFor(10, second, undefined, 'durable').pendingMs).toBeGreaterThan(2 * minute);
    const monthly = limitsFor(10, 31 * day, undefined, 'durable');
    expect(monthly).toMatchObject({ settledMs: 31 * day + hour + 10 * minute, pendingMs: 31 * day + 3 * hour });
  });

  test('leaves slots for a cold start above renewals, and slots for reset above all else', () => {
    expect(usualLimits.ceilings).toEqual({ refresh: 84, cold: 110, expired: 110, rejected: 110, reset: 120 });
    expect(usualLimits.rejectedShare).toBe(20);
  });

  test('a new record of a shared store may gain no more than the reserve insures', () => {
    expect(limitsFor(150, day, undefined, 'process').coldStart).toBe(120);
    expect(limitsFor(150, day, undefined, 'durable').coldStart).toBe(30);
    expect(limitsFor(150, day, undefined, 'replicated').coldStart).toBe(25);
  });

  test.each([
    [1, 1, 1],
    [2, 1, 1],
    [3, 2, 2],
    [5, 4, 3],
  ])('a limit of %i leaves %i usable, and %i of them for a new record', (tokens, usable, coldStart) => {
    const limits = limitsFor(tokens, day, undefined, 'durable');
    expect(limits).toMatchObject({ limit: tokens, usable, coldStart, rejectedShare: 1 });
    expect(limits.ceilings).toMatchObject({ cold: usable, reset: usable });
  });

  test(`any agreement leaves something usable, tiers in order, and windows longer than the operator's (seed ${seed})`, () => {
    const agreement = fc.record({
      tokens: fc.integer({ min: 1, max: 1_000_000 }),
      windowMs: fc.integer({ min: second, max: 31 * day }),
      durability: fc.constantFrom(...durabilities),
    });
    fc.assert(
      fc.property(agreement, ({ tokens, windowMs, durability }) => {
        const { usable, ceilings, coldStart, settledMs, pendingMs, rejectedShare } = limitsFor(
          tokens,
          windowMs,
          undefined,
          durability,
        );
        expect(usable).toBeGreaterThan(0);
        expect(usable).toBeLessThanOrEqual(tokens);
        expect(ceilings.refresh).toBeLessThanOrEqual(ceilings.cold);
        expect(ceilings.cold).toBeGreaterThan(0);
        expect(ceilings.cold).toBeLessThanOrEqual(ceilings.reset);
        expect(ceilings.reset).toBe(usable);
        expect(coldStart).toBeGreaterThan(0);
        expect(coldStart).toBeLessThanOrEqual(usable);
        expect(rejectedShare).toBeGreaterThan(0);
        expect(settledMs).toBeGreaterThan(windowMs);
        expect(pendingMs).toBeGreaterThan(settledMs);
      }),
    );
  });

  test(`one loss of a durable store fits into the reserve, from 11 tokens on (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 1_000_000 }), (tokens) => {
        const { usable, coldStart } = limitsFor(tokens, day, undefined, 'durable');
        expect(usable + coldStart).toBeLessThanOrEqual(tokens);
      }),
    );
  });

  test(`three losses or a split of a replicated store fit into the reserve, from 17 tokens on (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 17, max: 1_000_000 }), (tokens) => {
        const { usable, coldStart } = limitsFor(tokens, day, undefined, 'replicated');
        expect(usable + 3 * coldStart).toBeLessThanOrEqual(tokens);
        expect(2 * usable).toBeLessThanOrEqual(tokens);
      }),
    );
  });
});

describe('spent, freeAt and leavesAt', () => {
  test('counts entries in detail and those that were added up', () => {
    const entries = [entryAt(noon), entryAt(noon, { pending: true })];
    const condensed = [
      { at: noon, pending: false, count: 5 },
      { at: noon, pending: true, count: 7 },
    ];
    expect(spent(recordWith({ entries, condensed }))).toEqual({ used: 14, pending: 8 });
  });

  test('an entry of unknown outcome leaves later than a settled one', () => {
    expect(leavesAt(entryAt(noon), usualLimits)).toBe(noon + usualLimits.settledMs);
    expect(leavesAt(entryAt(noon, { pending: true }), usualLimits)).toBe(noon + usualLimits.pendingMs);
  });

  test('there is room at once below the ceiling, and else when enough entries have left', () => {
    const record = recordWith({ entries: [entryAt(noon - 3), entryAt(noon - 2), entryAt(noon - 1)] });
    const leaving = (age: number) => noon - age + usualLimits.settledMs;
    expect(freeAt(record, noon, usualLimits, 4)).toBe(noon);
    expect(freeAt(record, noon, usualLimits, 3)).toBe(leaving(3));
    expect(freeAt(record, noon, usualLimits, 2)).toBe(leaving(2));
    expect(freeAt(record, noon, usualLimits, 1)).toBe(leaving(1));
  });

  test('whatever leaves first makes room first, whenever it was stamped', () => {
    const entries = [entryAt(noon - 26 * hour, { pending: true }), entryAt(noon - 25 * hour)];
    for (const order of [entries, entries.toReversed()]) {
      expect(freeAt(recordWith({ entries: order }), noon, usualLimits, 2)).toBe(noon + 10 * minute);
    }
  });

  test('entries that were added up leave together', () => {
    const record = recordWith({ condensed: [{ at: noon, pending: true, count: 9 }] });
    expect(freeAt(record, noon, usualLimits, 9)).toBe(noon + usualLimits.pendingMs);
  });

  test('a ceiling of zero never has room: it is checked again when a window has passed', () => {
    expect(freeAt(recordWith(), noon, usualLimits, 0)).toBe(noon + usualLimits.settledMs);
  });
});

describe('roomAt', () => {
  test.each([
    ['refresh', 84],
    ['cold', 110],
    ['expired', 110],
    ['rejected', 110],
    ['reset', 120],
  ] as const)('%s has room until %i tokens are spent', (reason, ceiling) => {
    const room = (count: number) => roomAt(recordWith({ entries: entriesAt(noon, count) }), noon, usualLimits, reason);
    expect(room(ceiling - 1)).toBe(noon);
    expect(room(ceiling)).toBe(noon + usualLimits.settledMs);
  });

  test('a new record of a shared store has room for the insured few until whatever it may have lost has left', () => {
    const bornAt = noon - hour;
    const young = (count: number) => recordWith({ bornAt, entries: entriesAt(noon, count) });
    const oldEnough = bornAt + usualLimits.pendingMs;
    expect(roomAt(young(29), noon, usualLimits, 'reset')).toBe(noon);
    expect(roomAt(young(30), noon, usualLimits, 'reset')).toBe(noon + usualLimits.settledMs);
    expect(roomAt(young(30), oldEnough, usualLimits, 'reset')).toBe(oldEnough);
    const pending = { ...young(30), entries: entriesAt(noon, 30, { pending: true }) };
    expect(roomAt(pending, noon, usualLimits, 'reset')).toBe(oldEnough);
  });

  test('what was put back from memory is older than the record, and not among its gains', () => {
    const restored = entriesAt(noon - 2 * hour, 60);
    const record = recordWith({ bornAt: noon - hour, entries: [...restored, ...entriesAt(noon, 29)] });
    expect(roomAt(record, noon, usualLimits, 'cold')).toBe(noon);
    const condensed = [{ at: noon, pending: false, count: 1 }];
    expect(roomAt({ ...record, condensed }, noon, usualLimits, 'cold')).toBeGreaterThan(noon);
  });
});

describe('rejectedRoomAt', () => {
  test('waits for the spacing', () => {
    const record = recordWith({ rejections: { count: 2, retryAt: noon + minute } });
    expect(rejectedRoomAt(record, noon, usualLimits)).toBe(noon + minute);
    expect(rejectedRoomAt(recordWith(), noon, usualLimits)).toBe(noon);
  });

  test('allows 20 per window, whatever the spacing says', () => {
    const oldest = noon - 20 * hour;
    const renewals = (count: number) => recordWith({ entries: entriesAt(oldest, count, { reason: 'rejected' }) });
    expect(rejectedRoomAt(renewals(19), noon, usualLimits)).toBe(noon);
    expect(rejectedRoomAt(renewals(20), noon, usualLimits)).toBe(oldest + usualLimits.settledMs);
  });
});

describe('pauses after failures', () => {
  test('double, up to the longest', () => {
    const pauses = [0, 1, 2, 3, 4, 1_000_000].map((count) => nextBackoff({ count, retryAt: 0 }, noon, 5, 60));
    expect(pauses.map(({ retryAt }) => retryAt - noon)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(pauses.map(({ count }) => count)).toEqual([1, 2, 3, 4, 5, 1_000_001]);
    expect(nextBackoff(undefined, noon, 5, 60)).toEqual({ count: 1, retryAt: noon + 5 });
  });

  test('are whole milliseconds, and as long as they have to be in any case', () => {
    expect(nextBackoff(undefined, noon, 5, 60, 7.5).retryAt).toBe(noon + 8);
    expect(nextBackoff(undefined, noon, 5, 60, 4).retryAt).toBe(noon + 5);
  });

  test('are not cut short by another failure', () => {
    expect(nextBackoff({ count: 1, retryAt: noon + hour }, noon, 5, 60)).toEqual({ count: 2, retryAt: noon + hour });
  });

  test('are spread over the window once a quarter is of unknown outcome', () => {
    const pending = (count: number) => recordWith({ entries: entriesAt(noon, count, { pending: true }) });
    expect(sparingMs(pending(29), noon, usualLimits)).toBe(0);
    expect(sparingMs(pending(30), noon, usualLimits)).toBe((27 * hour) / 30);
    // A new record may gain 30.
    const young = (count: number) => ({ ...pending(count), bornAt: noon - 27 * hour + 1 });
    expect([7, 8].map((count) => sparingMs(young(count), noon, usualLimits))).toEqual([0, (27 * hour) / 7.5]);
    expect(sparingMs({ ...young(8), bornAt: noon - 27 * hour }, noon, usualLimits)).toBe(0);
  });

  test('end when less than a quarter is of unknown outcome again', () => {
    const old = entriesAt(noon - 27 * hour + 10 * minute, 5, { pending: true });
    const entries = [...old, ...entriesAt(noon, 26, { pending: true })];
    expect(sparingMs(recordWith({ entries }), noon, usualLimits)).toBe(10 * minute);
    expect(sparingMs(recordWith({ entries }), noon + 9 * minute, usualLimits)).toBe(minute);
  });

  test('are never longer than the window, however small the budget', () => {
    const limits = limitsFor(2, day, 0, 'durable');
    const pending = recordWith({ entries: entriesAt(noon, 2, { pending: true }) });
    expect(sparingMs(pending, noon, limits)).toBe(27 * hour);
  });

  test.each([
    ['durable', 150],
    ['replicated', 150],
    ['durable', 10],
    ['durable', 100_000],
  ] as const)('an outage of any length leaves half of what a %s store may spend of %i', (durability, tokens) => {
    const limits = limitsFor(tokens, day, undefined, durability);
    let leaving: number[] = [];
    let maxSpent = 0;
    let failures: LedgerRecord['failures'];
    for (let now = noon; now < noon + 10 * day; now = failures?.retryAt ?? now) {
      leaving = [...leaving.filter((at) => at > now), now + limits.pendingMs];
      maxSpent = Math.max(maxSpent, leaving.length);
      const entry = entryAt(now, { id: 'mine', pending: true });
      const condensed = [{ at: now, pending: true, count: leaving.length - 1 }];
      const reservation = { entry, keyId: 'key', secretId: 'secret' };
      const record = recordWith({ entries: [entry], condensed, failures });
      failures = settle(record, now, reservation, { kind: 'ambiguous', charge: 1 }, limits).failures;
    }
    expect(maxSpent).toBeLessThanOrEqual(limits.usable / 2);
    expect(maxSpent).toBeGreaterThan(2);
  });
});
