import { describe, expect, test } from 'vitest';
import type { Attempt, LedgerRecord, Quota } from '../../src/ledger/journal.ts';
import { merge } from '../../src/ledger/merge.ts';
import { figuresOf, foreignIn } from '../../src/ledger/quota.ts';
import { reconcile, type Seen } from '../../src/ledger/repair.ts';
import { type Answer, settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { ambiguous, attemptAt, recordWith, seenAt, tried, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

/** The provider's day began ten hours ago, and it counts 20 tokens. */
const said: Quota = [day, 150, 130, 14 * hour];
const began = noon - 10 * hour;

const foreign = (attempts: readonly Attempt[], toldAt: number = noon + second) =>
  foreignIn(recordWith(attempts), said, noon, toldAt);

describe('tokens that the record does not know', () => {
  test('are what the provider counts, less what was issued in its window', () => {
    expect(foreign([])).toBe(20);
    expect(foreign([attemptAt(noon), attemptAt(began + minute)])).toBe(18);
  });

  test('may not be those that were issued as the window began, or of which nobody knows', () => {
    expect(foreign([attemptAt(began - minute)])).toBe(20);
    expect(foreign([attemptAt(began - second / 2)])).toBe(19);
    expect(foreign([attemptAt(began - minute, unknownAt(began))])).toBe(19);
    expect(foreign([attemptAt(began - 2 * hour, unknownAt(began))])).toBe(20);
  });

  test('are not fewer because of those that were issued after the provider counted', () => {
    expect(foreign([attemptAt(noon + minute)])).toBe(20);
    expect(foreign([attemptAt(noon + minute)], noon + 2 * minute)).toBe(19);
  });

  test('are none if the record knows more than the provider, which may lag', () => {
    expect(foreign(Array.from({ length: 30 }, (_, index) => attemptAt(noon - index * minute)))).toBe(0);
  });

  test('are not those of which somebody said that they were spent elsewhere, before or after', () => {
    const order = { id: 'order', kind: 'spent', by: 'ops', tokens: 15 };
    for (const at of [noon - hour, noon + hour])
      expect(foreignIn(recordWith([], { orders: [{ ...order, at }] }), said, noon, noon)).toBe(5);
  });
});

describe('what the provider said last', () => {
  const saying = (remaining: number) => (): Answer => ({ ...ambiguous(), quota: [[day, 150, remaining, 14 * hour]] });
  const remainingOf = (record: LedgerRecord) => figuresOf(record, noon).map(({ quota: [, , remaining] }) => remaining);

  test('holds until its window ends', () => {
    const record = recordWith([attemptAt(noon)], { quota: { askedAt: noon, at: noon, figures: [said] } });
    expect(figuresOf(record, noon + 14 * hour - 1)).toMatchObject([
      { at: noon, endsAt: noon + 14 * hour, foreign: 19 },
    ]);
    expect(figuresOf(record, noon + 14 * hour)).toEqual([]);
    expect(figuresOf(recordWith([attemptAt(noon)]), noon)).toEqual([]);
  });

  test('is replaced by what it says later, and by nothing else', () => {
    const before = tried(recordWith([]), noon - 3 * hour, { id: 'before' }, saying(9)).record;
    const silent = tried(before, noon - 2 * hour, { id: 'silent' }, ambiguous).record;
    const after = tried(silent, noon - hour, { id: 'after' }, saying(8)).record;
    expect([before, silent, after].map(remainingOf)).toEqual([[9], [9], [8]]);
    // An outcome that the store hears of late tells what the provider said then.
    const [attempt] = before.attempts as [Attempt];
    expect(remainingOf(settle(after, noon, attempt, saying(9)()))).toEqual([8]);
    expect([merge(before, after), merge(after, before)].map(remainingOf)).toEqual([[8], [8]]);
  });

  test('is as old as before when the store has a clock that was put right', () => {
    const { record } = tried(recordWith([]), noon - hour, {}, saying(9));
    const now = noon - 5 * hour;
    const repaired = (seen: Seen | undefined) => reconcile(record, seen, now, 'new epoch', usual).record.quota?.askedAt;
    expect(repaired(seenAt(record, noon))).toBe(now - hour + 10 * minute);
    // Nobody knows how old it is.
    expect(repaired(undefined)).toBe(now);
  });
});
