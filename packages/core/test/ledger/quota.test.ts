import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import type { Attempt, Quota } from '../../src/ledger/journal.ts';
import { figuresOf, foreignIn } from '../../src/ledger/quota.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { attemptAt, recordWith, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

/** The operator's day began ten hours ago, and it counts 20 tokens. */
const said: Quota = [day, 150, 130, 14 * hour];
const began = noon - 10 * hour;

const foreign = (attempts: readonly Attempt[], toldAt: number = noon + second) =>
  foreignIn(recordWith(attempts), said, noon, toldAt);

describe('tokens that the record does not know', () => {
  test('are what the operator counts, less what was issued in its window', () => {
    expect(foreign([])).toBe(20);
    expect(foreign([attemptAt(noon), attemptAt(began + minute)])).toBe(18);
  });

  test('may not be those that were issued as the window began, or of which nobody knows', () => {
    expect(foreign([attemptAt(began - minute)])).toBe(20);
    expect(foreign([attemptAt(began - second / 2)])).toBe(19);
    expect(foreign([attemptAt(began - minute, unknownAt(began))])).toBe(19);
    expect(foreign([attemptAt(began - 2 * hour, unknownAt(began))])).toBe(20);
  });

  test('are not fewer because of those that were issued after the operator counted', () => {
    expect(foreign([attemptAt(noon + minute)])).toBe(20);
    expect(foreign([attemptAt(noon + minute)], noon + 2 * minute)).toBe(19);
  });

  test('are none if the record knows more than the operator, which may lag', () => {
    expect(foreign(Array.from({ length: 30 }, (_, index) => attemptAt(noon - index * minute)))).toBe(0);
  });

  test('are not those of which somebody said that they were spent elsewhere, before or after', () => {
    const order = { id: 'order', kind: 'spent', by: 'ops', tokens: 15 };
    for (const at of [noon - hour, noon + hour])
      expect(foreignIn(recordWith([], { orders: [{ ...order, at }] }), said, noon, noon)).toBe(5);
  });
});

describe('what the operator said last', () => {
  const told = (at: number, quota: Quota = said) =>
    attemptAt(at, { outcome: { kind: 'issued', at, charge: 1, quota: [quota] } });

  test('holds until its window ends', () => {
    const record = recordWith([told(noon)]);
    expect(figuresOf(record, noon + 14 * hour - 1)).toMatchObject([
      { at: noon, endsAt: noon + 14 * hour, foreign: 19 },
    ]);
    expect(figuresOf(record, noon + 14 * hour)).toEqual([]);
    expect(figuresOf(recordWith([attemptAt(noon)]), noon)).toEqual([]);
  });

  test('is kept, and what it said before is not', () => {
    const record = recordWith([told(noon - hour), told(noon - minute), attemptAt(noon - second)]);
    const kept = compact(record, noon, usual);
    expect(kept.attempts.map(({ outcome }) => outcome?.quota !== undefined)).toEqual([false, true, false]);
    expect(figuresOf(kept, noon)).toEqual(figuresOf(record, noon));
  });
});
