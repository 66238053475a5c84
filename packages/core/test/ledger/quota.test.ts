import { describe, expect, test } from 'vitest';
import { present, united } from '../../src/ledger/present.ts';
import { figuresOf, foreignIn } from '../../src/ledger/quota.ts';
import type { LedgerRecord, Quota, Spent } from '../../src/ledger/record.ts';
import { type Answer, settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { ambiguous, issuedAt, recordWith, refusedAt, several, tried, unknownAt } from './support/records.ts';

/** The provider's day began ten hours ago, and it counts 20 tokens. */
const said: Quota = { windowMs: day, tokens: 150, remaining: 130, endsInMs: 14 * hour };
const began = noon - 10 * hour;

const foreign = (spent: readonly Spent[], toldAt: number = noon + second) =>
  foreignIn(recordWith(spent), said, noon, toldAt);

describe('tokens that the record does not know', () => {
  test('are what the provider counts, less what was issued in its window', () => {
    expect(foreign([])).toBe(20);
    expect(foreign([issuedAt(noon), issuedAt(began + minute), refusedAt(noon - minute)])).toBe(18);
    expect(foreign([issuedAt(noon, { reason: 'several', tokens: 7 })])).toBe(13);
  });

  test('may not be those that were issued as the window began, or of which nobody knows', () => {
    expect(foreign([issuedAt(began - minute)])).toBe(20);
    expect(foreign([issuedAt(began - second / 2)])).toBe(19);
    expect(foreign([unknownAt(began - minute)])).toBe(19);
    expect(foreign([unknownAt(began - 2 * hour)])).toBe(20);
  });

  test('are not fewer because of those that were issued after the provider counted', () => {
    expect(foreign([issuedAt(noon + minute)])).toBe(20);
    expect(foreign([issuedAt(noon + minute)], noon + 2 * minute)).toBe(19);
    // Its request was under way when the provider counted.
    expect(foreign([issuedAt(noon, { issuedAt: noon + minute })])).toBe(19);
  });

  test('are none if the record knows more than the provider, which may lag', () => {
    expect(foreign(several(30, (index) => issuedAt(noon - index * minute)))).toBe(0);
  });

  test('are not those of which somebody said that they were spent elsewhere, before or after', () => {
    const stated = (at: number) => issuedAt(at, { id: 'stated', reason: 'stated', tokens: 15 });
    expect([noon - hour, noon + hour].map((at) => foreign([stated(at)]))).toEqual([5, 5]);
  });
});

describe('what the provider said last', () => {
  const saying = (remaining: number) => (): Answer => ({ ...ambiguous(), quota: [{ ...said, remaining }] });
  const remainingOf = (record: LedgerRecord) => figuresOf(record, noon).map(({ quota }) => quota.remaining);

  test('holds until its window ends', () => {
    const record = recordWith([issuedAt(noon)], { quota: { askedAt: noon, at: noon, figures: [said] } });
    expect(figuresOf(record, noon + 14 * hour - 1)).toEqual([
      { quota: said, at: noon, endsAt: noon + 14 * hour, foreign: 19 },
    ]);
    expect(figuresOf(record, noon + 14 * hour)).toEqual([]);
    expect(figuresOf(recordWith([issuedAt(noon)]), noon)).toEqual([]);
  });

  test('is replaced by what it says later, and by nothing else', () => {
    const { record: before, reserved } = tried(recordWith([]), noon - 3 * hour, { id: 'before' }, saying(9));
    const silent = tried(before, noon - 2 * hour, { id: 'silent' }, ambiguous).record;
    const after = tried(silent, noon - hour, { id: 'after' }, saying(8)).record;
    expect([before, silent, after].map(remainingOf)).toEqual([[9], [9], [8]]);
    // An outcome that the store hears of late tells what the provider said then.
    expect(remainingOf(settle(after, noon, reserved, saying(9)()))).toEqual([8]);
    expect([united(before, after, noon), united(after, before, noon)].map(remainingOf)).toEqual([[8], [8]]);
  });

  test('is as old as before when the store has a clock that was put right, ten minutes less at most', () => {
    const { record } = tried(recordWith([]), noon - hour, {}, saying(9));
    const now = noon - 5 * hour;
    const { quota } = present({ ...record, latestAt: noon }, undefined, now, 'new record').record;
    expect(quota).toMatchObject({ askedAt: now - hour + 10 * minute, at: now - hour + 10 * minute + second });
  });
});
