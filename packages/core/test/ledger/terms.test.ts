import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { admission, leavesAt, tightest } from '../../src/ledger/count.ts';
import { type Attempt, type DeclaredTerm, type LedgerRecord, newRecord } from '../../src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import {
  currentTerms,
  declare,
  enforcedTerms,
  foreignTerms,
  isDeclarationDue,
  keptTerms,
  maxTerms,
  unitedTerms,
} from '../../src/ledger/terms.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import { attemptAt, recordWith as recordOf, unknownAt, usual as usualLimits } from './support/attempts.ts';
import { declaredBy, oneWindow, seed } from './support/records.ts';

const recordWith = (fields: Partial<LedgerRecord> = {}) => recordOf(fields.attempts ?? [], fields);

/** So many tokens, issued at these instants. */
function many(count: number, at: (index: number) => number): Attempt[] {
  return Array.from({ length: count }, (_, index) => {
    return attemptAt(at(index), { id: `${index}`, generation: at(index) + index });
  });
}

const usual = { tokens: 150, windowMs: day, reserve: 30 };
const hourly = { tokens: 10, windowMs: hour, reserve: 0 };

describe('a declaration', () => {
  test('is due while a term is not in the record, and when the last one is 20 minutes old', () => {
    const due = (seenAt: number) => {
      return isDeclarationDue(recordWith({ terms: [declaredBy('any', usual, seenAt)] }), noon, usualLimits);
    };
    expect(isDeclarationDue(recordWith(), noon, usualLimits)).toBe(true);
    expect([due(noon), due(noon - 20 * minute + 1), due(noon - 20 * minute)]).toEqual([false, false, true]);
    const other = recordWith({ terms: [declaredBy('any', { ...usual, reserve: 29 }, noon)] });
    expect(isDeclarationDue(other, noon, usualLimits)).toBe(true);
    expect(isDeclarationDue(recordWith(), noon, { ...usualLimits, terms: [] })).toBe(false);
  });

  test('replaces an earlier one of the same term, and leaves those of others', () => {
    const terms = [declaredBy('a', usual, noon - hour), declaredBy('b', hourly, noon - minute)];
    expect(declare(recordWith({ terms }), noon, usualLimits, 'me').terms).toEqual([
      declaredBy('me', usual, noon),
      declaredBy('b', hourly, noon - minute),
    ]);
  });

  test('of a seventeenth term replaces the oldest', () => {
    const terms = Array.from({ length: maxTerms }, (_, index) =>
      declaredBy('other', { ...hourly, tokens: index + 1 }, noon - index),
    );
    const { terms: declared } = declare(recordWith({ terms }), noon, usualLimits, 'me');
    expect(declared).toHaveLength(maxTerms);
    expect(declared[0]).toEqual(declaredBy('me', usual, noon));
    expect(declared).not.toContainEqual(terms.at(-1));
  });
});

describe('terms of two records', () => {
  test('are united by the later declaration', () => {
    const early = [declaredBy('a', usual, noon - hour), declaredBy('a', hourly, noon)];
    const late = [declaredBy('b', usual, noon)];
    expect(unitedTerms(early, late)).toEqual([declaredBy('a', hourly, noon), declaredBy('b', usual, noon)]);
    expect(unitedTerms(late, early)).toEqual([declaredBy('b', usual, noon), declaredBy('a', hourly, noon)]);
  });
});

describe('a term of another process', () => {
  const declared = (seenAt: number) => recordWith({ terms: [declaredBy('other', hourly, seenAt)] });

  test('is enforced for an hour', () => {
    const enforced = (seenAt: number) => enforcedTerms(declared(seenAt), noon, usualLimits).map(({ own }) => own);
    expect(enforced(noon - hour + 1)).toEqual([true, false]);
    expect(enforced(noon - hour)).toEqual([true]);
    expect(foreignTerms(declared(noon), noon, usualLimits)).toEqual([declaredBy('other', hourly, noon)]);
  });

  test('stays in the record while something may count in it, and until another term is declared', () => {
    const next = declaredBy('next', usual, noon);
    const stays = (seenAt: number, ...later: DeclaredTerm[]) => {
      const { terms } = declared(seenAt);
      return currentTerms(recordWith({ terms: [...later, ...terms] }), usualLimits).length > later.length;
    };
    const livesMs = hour + hour / 24 + 7 * minute;
    expect([stays(noon - livesMs + 1, next), stays(noon - livesMs, next)]).toEqual([true, false]);
    expect(stays(noon - 30 * day)).toBe(true);
  });

  test('is not foreign if this process has the same', () => {
    const terms = [declaredBy('other', usual, noon)];
    expect(foreignTerms(recordWith({ terms }), noon, usualLimits)).toEqual([]);
    expect(enforcedTerms(recordWith({ terms }), noon, usualLimits)).toHaveLength(1);
  });
});

/** The agreements of processes that differ: shorter, longer, tighter and wider ones, and one with two windows. */
const agreements: readonly Limits[] = [
  usualLimits,
  oneWindow(300),
  oneWindow(40, 12 * hour),
  oneWindow(500, 31 * day),
  oneWindow(50, 86_400),
  limitsFor(
    [
      { tokens: 10, windowMs: hour },
      { tokens: 50, windowMs: day },
    ],
    0,
    'durable',
  ),
];

test(`whoever writes the record with whatever agreement, a term whose record is old enough counts every token (seed ${seed})`, () => {
  const step = fc.record({
    limits: fc.constantFrom(...agreements),
    idleMs: fc.oneof(fc.integer({ min: 0, max: 3 * hour }), fc.integer({ min: 0, max: 12 * day })),
    tokens: fc.integer({ min: 0, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 30 }), (steps) => {
      let now = noon;
      let record: LedgerRecord = newRecord('epoch', now);
      const issued: Attempt[] = [];
      for (const { limits, idleMs, tokens } of steps) {
        now += idleMs;
        record = compact(declare({ ...record, highWaterAt: now }, now, limits, 'me'), now, limits);
        for (let count = 0; count < tokens; count += 1) {
          // The promise is about the count. Whether there is room does not matter for it.
          const names = { id: `${issued.length}`, generation: now + count };
          const attempt = attemptAt(now, { ...names, ...(count % 2 === 0 ? unknownAt(now) : {}) });
          issued.push(attempt);
          record = compact({ ...record, attempts: [...record.attempts, attempt] }, now, limits);
        }
        for (const other of agreements) {
          for (const { term, used } of admission(declare(record, now, other, 'other'), now, other, 'cold')) {
            const mustCount = issued.filter((attempt) => leavesAt(attempt, term) > now);
            const known = mustCount.filter(({ at }) => at >= record.completeSince);
            expect(used).toBeGreaterThanOrEqual(known.length);
            if (now >= record.completeSince + term.pendingMs) expect(known).toHaveLength(mustCount.length);
          }
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('a process with a short window does not take away what others count', () => {
  let record = declare(recordWith(), noon, usualLimits, 'fleet');
  record = { ...record, attempts: many(120, () => noon) };
  for (const windowMs of [hour, 86_400, minute]) {
    const short = oneWindow(150, windowMs);
    const now = noon + 14 * hour;
    record = declare(record, now - 20 * minute, usualLimits, 'fleet');
    record = compact(declare(record, now, short, 'stranger'), now, short);
    expect(tightest(admission(record, now, short, 'reset'))).toMatchObject({ own: false, used: 120, room: 0 });
    expect(tightest(admission(record, now, usualLimits, 'reset'))).toMatchObject({ used: 120, room: 0 });
  }
});

test('after a change from 300 to 150, nothing is issued until fewer than the smaller limit allows count', () => {
  const before = oneWindow(300);
  let record = declare(recordWith(), noon, before, 'old');
  record = { ...record, attempts: many(200, (index) => noon + index * minute) };
  const now = noon + 4 * hour;
  const room = tightest(admission(declare(record, now, usualLimits, 'new'), now, usualLimits, 'reset'));
  // 200 count. There is room when the 81st leaves.
  expect(room).toMatchObject({ used: 200, room: 0, roomAt: noon + 80 * minute + 25 * hour + 10 * minute });
});

describe('a process that inherits the agreement', () => {
  const inherits = { ...usualLimits, terms: [], usual: [usual] };
  const thousand = { tokens: 1_000, windowMs: day, reserve: 200 };

  test('keeps what others stated, whatever its age, and states nothing', () => {
    for (const seenAt of [noon, noon - 3 * hour, noon - 30 * day]) {
      const record = recordWith({
        terms: [declaredBy('fleet', thousand, seenAt), declaredBy('fleet', hourly, seenAt)],
      });
      expect(isDeclarationDue(record, noon, inherits)).toBe(false);
      expect(declare(record, noon, inherits, 'me')).toEqual(record);
      const [one, other] = [thousand, hourly].map((term) => expect.objectContaining(term));
      expect(enforcedTerms(record, noon, inherits)).toEqual([
        { term: one, own: false, enforcedUntil: Number.POSITIVE_INFINITY },
        { term: other, own: false, enforcedUntil: Number.POSITIVE_INFINITY },
      ]);
      expect(keptTerms(record, inherits)).toEqual([one, other]);
    }
  });

  test('keeps what was stated last, not what that replaced', () => {
    const terms = [declaredBy('new', thousand, noon - 3 * hour), declaredBy('old', usual, noon - 4 * hour)];
    const kept = enforcedTerms(recordWith({ terms }), noon, inherits);
    expect(kept).toMatchObject([{ term: thousand, own: false }]);
  });

  test('keeps to the usual agreement in a record without any, and does not state it', () => {
    expect(isDeclarationDue(recordWith(), noon, inherits)).toBe(false);
    expect(declare(recordWith(), noon, inherits, 'me').terms).toEqual([]);
    expect(enforcedTerms(recordWith(), noon, inherits)).toMatchObject([{ term: usual, own: true }]);
    expect(keptTerms(recordWith(), inherits)).toEqual([expect.objectContaining(usual)]);
  });

  test('keeps a week of tokens in a record without terms, and says that earlier ones may be missing', () => {
    const days = [9, 7, 1];
    const attempts = many(3, (index) => noon - (days[index] ?? 0) * day);
    const record = compact(recordWith({ attempts }), noon, inherits);
    expect(record.attempts.map(({ at }) => at)).toEqual(attempts.slice(1).map(({ at }) => at));
    expect(record.completeSince).toBe(noon - 9 * day + 1);
    const weekly = oneWindow(20, 6 * day);
    expect(tightest(admission(record, noon, weekly, 'reset'))).toMatchObject({ used: 1, room: 15 });
    const monthly = oneWindow(20, 30 * day);
    // The 4 tokens of the reserve insure what the record does not know. Both of the known tokens lie in that time.
    expect(tightest(admission(record, noon, monthly, 'reset'))).toMatchObject({ used: 2, room: 2 });
  });

  test('condenses the tokens of a record without terms as finely as the usual agreement needs', () => {
    const attempts = many(400, (index) => noon - 26 * hour + index * 2 * minute);
    const record = compact(recordWith({ attempts }), noon, inherits);
    const { used = 0 } = tightest(admission(record, noon, inherits, 'reset')) ?? {};
    const exact = attempts.filter(({ at }) => at + 25 * hour + 10 * minute > noon).length;
    expect(used).toBeGreaterThanOrEqual(exact);
    // A bucket has a quarter of an hour, so at most 8 of these tokens count for longer.
    expect(used).toBeLessThanOrEqual(exact + 8);
  });
});
