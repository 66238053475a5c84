import { describe, expect, test } from 'vitest';
import { termLimits } from '../../src/ledger/limits.ts';
import {
  hasEnded,
  oneMore,
  oneMoreSpaced,
  pauseAfter,
  repeatedAt,
  spacedUntil,
  sparedUntil,
} from '../../src/ledger/pace.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { oneWindow, recordWith, several, termOf, unknownAt } from './support/records.ts';

describe('a row', () => {
  test('grows by what was reserved after the one before was known', () => {
    const before = { count: 3, at: noon };
    expect(oneMore(before, noon, noon + second)).toEqual({ count: 4, at: noon + second });
    expect(oneMore(before, noon - 1, noon + second)).toEqual({ count: 3, at: noon + second });
    // It became known first.
    expect(oneMore(before, noon - 2, noon - 1)).toEqual({ count: 3, at: noon });
    expect(oneMore({ count: 0, at: noon }, noon - 1, noon)).toEqual({ count: 1, at: noon });
    // A pause after a death counts from the reservation, but the death is known when the lease ends.
    const death = { count: 1, at: noon, knownAt: noon + minute };
    expect(oneMore(death, noon + second, noon + second, noon + minute).count).toBe(1);
    expect(oneMore(death, noon + minute, noon + minute).count).toBe(2);
  });

  test('is over after two days', () => {
    expect([2 * day, 2 * day + 1].map((ms) => hasEnded({ count: 3, at: noon }, noon + ms))).toEqual([false, true]);
    expect(oneMore({ count: 3, at: noon }, noon, noon + 2 * day + 1).count).toBe(1);
    expect(oneMore(undefined, noon, noon).count).toBe(1);
  });

  test('of failures has pauses that double, up to 15 minutes', () => {
    const pauses = several(12, (index) => pauseAfter(index + 1, 120) / second);
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    expect(pauseAfter(1_000, 120)).toBe(15 * minute);
  });

  test('of failures has pauses that grow faster with a small limit, so that what may be lost freely lasts a quarter of an hour', () => {
    const pausesWith = (usable: number) => [1, 2, 3, 4].map((count) => Math.round(pauseAfter(count, usable) / second));
    expect([120, 88, 75, 16, 1].map(pausesWith)).toEqual([
      [1, 2, 4, 8],
      [1, 2, 4, 8],
      [1, 2, 5, 13],
      [1, 30, 900, 900],
      [1, 30, 900, 900],
    ]);
  });

  test('of refusals has pauses of 5, 10, then 15 minutes', () => {
    expect([1, 2, 3, 9].map((count) => repeatedAt({ count, at: noon }) - noon)).toEqual([
      5 * minute,
      10 * minute,
      15 * minute,
      15 * minute,
    ]);
  });

  test('that is spaced has pauses of 1, 2, 4 … 60 minutes, and begins anew after an hour without one', () => {
    const spaced = { count: 2, at: noon };
    expect([1, 2, 3, 6, 7, 99].map((count) => (spacedUntil({ count, at: noon }) - noon) / minute)).toEqual([
      1, 2, 4, 32, 60, 60,
    ]);
    expect(oneMoreSpaced(undefined, noon)).toEqual({ count: 1, at: noon });
    expect([hour + 2 * minute, hour + 2 * minute + 1].map((ms) => oneMoreSpaced(spaced, noon + ms).count)).toEqual([
      3, 1,
    ]);
  });
});

describe('sparing', () => {
  const usual = termOf(oneWindow(150));
  /** Minutes from noon, when the last of so many tokens was lost. */
  const waitAfter = (
    lost: number,
    failures: number,
    { completeSince = noon - 30 * day, count = 9, retriedAt = 0 } = {},
  ) => {
    const spent = several(lost, (index) => unknownAt(noon - lost + index + 1));
    const record = recordWith(spent, { completeSince, lost: { count, at: noon, kind: 'unknown' } });
    return Math.round(Math.max(0, sparedUntil(record, usual, failures, retriedAt) - noon) / minute);
  };

  test('begins with an eighth of the usable tokens, and the fewer are left, the rarer are requests', () => {
    // 27 h / (3 × (0.43 × 120 − lost)), and a third longer after eleven failures in a row.
    expect([14, 15, 30, 45, 60].map((lost) => waitAfter(lost, 11))).toEqual([0, 20, 33, 80, 80]);
    expect([15, 30, 45].map((lost) => waitAfter(lost, 1))).toEqual([15, 25, 60]);
  });

  test('is the longer for a token, the oftener it failed: a third at most', () => {
    expect([1, 4, 11, 30].map((failures) => waitAfter(45, failures, { count: 30 }))).toEqual([60, 66, 80, 80]);
  });

  test('keeps a token apart for no longer than it has failed', () => {
    expect([1, 2, 3, 4].map((failures) => waitAfter(40, failures, { count: 1 }))).toEqual([2, 4, 9, 18]);
  });

  test('lets others ask while less than half is lost', () => {
    expect([58, 59].map((lost) => waitAfter(lost, 0))).toEqual([0, 60]);
  });

  test('never spends three quarters, also after an order to try again', () => {
    const hours = (lost: number, retriedAt = 0) => Math.floor(waitAfter(lost, 0, { retriedAt }) / 60);
    expect([hours(89), hours(90)]).toEqual([1, 27]);
    expect([hours(89, noon), hours(90, noon)]).toEqual([0, 27]);
  });

  test('ends when less than an eighth is lost', () => {
    const at = noon + 2 * minute - usual.pendingMs;
    const soonGone = several(14, (index) => unknownAt(at + index));
    const record = recordWith([...soonGone, unknownAt(noon)], { lost: { count: 9, at: noon, kind: 'unknown' } });
    expect(sparedUntil(record, usual, 6, 0)).toBe(noon + 2 * minute);
  });

  test('of a new record leaves half of the little that it allows, and lasts two hours at most', () => {
    const young = { completeSince: noon - hour };
    expect([14, 15, 20].map((lost) => waitAfter(lost, 11, young))).toEqual([0, 160, 160]);
    expect([14, 15].map((lost) => waitAfter(lost, 1, young))).toEqual([0, 120]);
    // Three quarters of it are never spent, until the record is complete.
    expect([14, 15, 22, 23].map((lost) => waitAfter(lost, 0, young))).toEqual([0, 120, 120, 26 * 60]);
  });

  test('of a record in which nothing was lost lasts no time', () => {
    expect(sparedUntil(recordWith([]), usual, 0, 0)).toBe(0);
    const small = termLimits({ tokens: 5, windowMs: day, reserve: 1 }, 'durable');
    const lost = several(6, (index) => unknownAt(noon + index));
    expect(sparedUntil(recordWith(lost), small, 0, 0)).toBe(0);
  });
});
