import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { leavesAt, roomsIn, tightest } from '../../src/ledger/count.ts';
import { decide } from '../../src/ledger/decide.ts';
import {
  currentTerms,
  enforcedTerms,
  foreignTerms,
  isStatementDue,
  keptTerms,
  type Limits,
  limitsFor,
  maxTerms,
  observedTerms,
  type Situation,
  unitedTerms,
  withStatement,
} from '../../src/ledger/limits.ts';
import { type LedgerRecord, newRecord, type Spent, type StatedTerm } from '../../src/ledger/record.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import {
  issuedAt,
  oneWindow,
  queryFor,
  recordWith,
  seed,
  several,
  situationOf,
  statedBy,
  unknownAt,
  usual,
} from './support/records.ts';

/** So many tokens, issued at these instants. */
function many(count: number, at: (index: number) => number): Spent[] {
  return several(count, (index) => issuedAt(at(index), { id: `${index}`, generation: at(index) + index }));
}

/** The situation after its process stated its terms. */
function afterStatement(situation: Situation): Situation {
  return { ...situation, record: withStatement(situation, 'me') };
}

const stating = (...limits: StatedTerm[]) => recordWith([], { limits });
const daily = { tokens: 150, windowMs: day, reserve: 30 };
const hourly = { tokens: 10, windowMs: hour, reserve: 0 };
const requests = limitsFor([{ tokens: 150, windowMs: day, counts: 'requests' }], undefined, 'durable');

describe('a statement', () => {
  test('is due while a term is not in the record, and when the last one is 20 minutes old', () => {
    const due = (seenAt: number) => isStatementDue(situationOf(stating(statedBy('any', daily, seenAt))));
    expect(isStatementDue(situationOf(stating()))).toBe(true);
    expect([due(noon), due(noon - 20 * minute + 1), due(noon - 20 * minute)]).toEqual([false, false, true]);
    const differing = [
      { reserve: 29 },
      { tokens: 151 },
      { windowMs: hour },
      { counts: 'requests' as const },
      { enforce: false as const },
    ];
    for (const part of differing)
      expect(isStatementDue(situationOf(stating(statedBy('any', { ...daily, ...part }, noon))))).toBe(true);
    expect(isStatementDue(situationOf(stating(), noon, { ...usual, terms: [] }))).toBe(false);
  });

  test('replaces an earlier one of the same term, and leaves those of others', () => {
    const record = stating(statedBy('b', hourly, noon - minute), statedBy('a', daily, noon - hour));
    expect(withStatement(situationOf(record), 'me').limits).toEqual([
      statedBy('me', daily, noon),
      statedBy('b', hourly, noon - minute),
    ]);
  });

  test('of a seventeenth term replaces the one that was stated first', () => {
    const terms = several(maxTerms, (index) => statedBy('other', { ...hourly, tokens: index + 1 }, noon - index));
    const { limits } = withStatement(situationOf(stating(...terms)), 'me');
    expect(limits).toHaveLength(maxTerms);
    expect(limits[0]).toEqual(statedBy('me', daily, noon));
    expect(limits).not.toContainEqual(terms.at(-1));
  });

  test('that requests count makes a record new in which only tokens counted, once', () => {
    const before = recordWith([issuedAt(noon - hour)], { limits: [statedBy('any', daily, noon)] });
    const stated = withStatement(situationOf(before, noon, requests), 'new');
    expect(stated.completeSince).toBe(noon);
    expect(withStatement(situationOf(stated, noon + hour, requests), 'new').completeSince).toBe(noon);
    expect(withStatement(situationOf(before), 'new').completeSince).toBe(before.completeSince);
    // Nobody asked for a token yet: somebody may have said what was spent.
    const unused = newRecord('record', noon - day);
    expect(withStatement(situationOf(unused, noon, requests), 'new').completeSince).toBe(noon - day);
  });
});

test('the terms of two records are united: of each, the later statement counts', () => {
  const early = [statedBy('a', hourly, noon), statedBy('a', daily, noon - hour)];
  const late = [statedBy('b', daily, noon)];
  expect(unitedTerms(early, late)).toEqual([statedBy('a', hourly, noon), statedBy('b', daily, noon)]);
  expect(unitedTerms(late, early)).toEqual([statedBy('b', daily, noon), statedBy('a', hourly, noon)]);
});

describe('a term of another process', () => {
  const stated = (seenAt: number) => stating(statedBy('other', hourly, seenAt));

  test('is enforced for an hour', () => {
    const [, enforced] = enforcedTerms(situationOf(stated(noon)));
    expect(enforced).toMatchObject({ term: hourly, own: false, enforcedUntil: noon + hour });
    expect([hour - 1, hour].map((ms) => foreignTerms(situationOf(stated(noon)), noon + ms).length)).toEqual([1, 0]);
    expect([hour - 1, hour].map((ms) => roomsIn(situationOf(stated(noon), noon + ms), 'cold').length)).toEqual([2, 1]);
  });

  test('stays in the record while something may count in it, and until another term is stated', () => {
    const next = statedBy('next', daily, noon);
    const stays = (seenAt: number, ...later: StatedTerm[]) => {
      return currentTerms(situationOf(stating(...later, ...stated(seenAt).limits))).length > later.length;
    };
    const livesMs = hour + hour / 24 + 7 * minute;
    expect([stays(noon - livesMs + 1, next), stays(noon - livesMs, next)]).toEqual([true, false]);
    expect(stays(noon - 30 * day)).toBe(true);
  });

  test('is not foreign if this process has the same', () => {
    const same = stating(statedBy('other', daily, noon));
    expect(foreignTerms(situationOf(same), noon)).toEqual([]);
    expect(enforcedTerms(situationOf(same))).toMatchObject([{ own: true, enforcedUntil: Number.POSITIVE_INFINITY }]);
  });
});

/** The agreements of processes that differ: shorter, longer, tighter and wider ones, and one with two windows. */
const agreements: readonly Limits[] = [
  usual,
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
      let record: LedgerRecord = newRecord('record', now);
      const all: Spent[] = [];
      for (const { limits, idleMs, tokens } of steps) {
        now += idleMs;
        record = compact(afterStatement({ record: { ...record, latestAt: now }, now, limits }));
        for (let count = 0; count < tokens; count += 1) {
          // The promise is about the count. Whether there is room does not matter for it.
          const names = { id: `${all.length}`, generation: now + count };
          const one = count % 2 === 0 ? unknownAt(now, names) : issuedAt(now, names);
          all.push(one);
          record = compact({ record: { ...record, spent: [...record.spent, one] }, now, limits });
        }
        for (const other of agreements) {
          for (const { term, used } of roomsIn(afterStatement({ record, now, limits: other }), 'cold')) {
            const mustCount = all.filter((one) => leavesAt(one, term) > now);
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
  let record = recordWith(many(120, () => noon));
  for (const windowMs of [hour, 86_400, minute]) {
    const short = oneWindow(150, windowMs);
    const now = noon + 14 * hour;
    record = withStatement(situationOf(record, now - 20 * minute), 'fleet');
    record = compact(afterStatement({ record, now, limits: short }));
    const roomFor = (limits: Limits) => tightest(roomsIn({ record, now, limits }, 'reset'));
    expect(roomFor(short)).toMatchObject({ own: false, used: 120, room: 0 });
    expect(roomFor(usual)).toMatchObject({ used: 120, room: 0 });
  }
});

test('after a change from 300 to 150, nothing is issued until fewer than the smaller limit allows count', () => {
  const issuedBefore = recordWith(many(200, (index) => noon + index * minute));
  const record = withStatement(situationOf(issuedBefore, noon, oneWindow(300)), 'old');
  const now = noon + 4 * hour;
  const room = tightest(roomsIn(afterStatement({ record, now, limits: usual }), 'reset'));
  // 200 count. There is room when the 81st leaves.
  expect(room).toMatchObject({ used: 200, room: 0, roomAt: noon + 80 * minute + 25 * hour + 10 * minute });
});

describe('a process that inherits the agreement', () => {
  const inherits = { ...usual, terms: [], usual: [daily] };
  const thousand = { tokens: 1_000, windowMs: day, reserve: 200 };

  test('keeps what others stated, whatever its age, and states nothing', () => {
    for (const seenAt of [noon, noon - 3 * hour, noon - 30 * day]) {
      const record = stating(statedBy('fleet', thousand, seenAt), statedBy('fleet', hourly, seenAt));
      expect(isStatementDue(situationOf(record, noon, inherits))).toBe(false);
      expect(withStatement(situationOf(record, noon, inherits), 'me')).toEqual(record);
      const [one, other] = [thousand, hourly].map((term) => expect.objectContaining(term));
      expect(enforcedTerms({ record, limits: inherits })).toEqual([
        { term: one, own: false, enforcedUntil: Number.POSITIVE_INFINITY },
        { term: other, own: false, enforcedUntil: Number.POSITIVE_INFINITY },
      ]);
      expect(keptTerms({ record, limits: inherits })).toEqual([one, other]);
    }
  });

  test('keeps what was stated last, not what that replaced', () => {
    const record = stating(statedBy('new', thousand, noon - 3 * hour), statedBy('old', daily, noon - 4 * hour));
    expect(enforcedTerms({ record, limits: inherits })).toMatchObject([{ term: thousand, own: false }]);
  });

  test('keeps to the usual agreement in a record without any, and does not state it', () => {
    expect(isStatementDue(situationOf(stating(), noon, inherits))).toBe(false);
    expect(withStatement(situationOf(stating(), noon, inherits), 'me').limits).toEqual([]);
    expect(enforcedTerms({ record: stating(), limits: inherits })).toMatchObject([{ term: daily, own: true }]);
    expect(keptTerms({ record: stating(), limits: inherits })).toEqual([expect.objectContaining(daily)]);
    // A reader of usage has no agreement at all.
    expect(enforcedTerms({ record: stating(), limits: { ...usual, terms: [] } })).toEqual([]);
  });

  test('keeps a week of tokens in a record without terms, and says that earlier ones may be missing', () => {
    const days = [9, 7, 1];
    const spent = many(3, (index) => noon - (days[index] ?? 0) * day);
    const record = compact(situationOf(recordWith(spent), noon, inherits));
    expect(record.spent.map(({ at }) => at)).toEqual(spent.slice(1).map(({ at }) => at));
    expect(record.completeSince).toBe(noon - 9 * day + 1);
    const week = situationOf(record, noon, oneWindow(20, 6 * day));
    expect(tightest(roomsIn(week, 'reset'))).toMatchObject({ used: 1, room: 15 });
    const monthly = oneWindow(20, 30 * day);
    // The 4 tokens of the reserve insure what the record does not know. Both of the known tokens lie in that time.
    expect(tightest(roomsIn(situationOf(record, noon, monthly), 'reset'))).toMatchObject({ used: 2, room: 2 });
  });

  test('adds up the tokens of a record without terms as finely as the usual agreement needs', () => {
    const spent = many(400, (index) => noon - 26 * hour + index * 2 * minute);
    const record = compact(situationOf(recordWith(spent), noon, inherits));
    expect(record.spent.length).toBeLessThan(250);
    const { used } = tightest(roomsIn(situationOf(record, noon, inherits), 'reset'));
    const exact = spent.filter(({ at }) => at + 25 * hour + 10 * minute > noon).length;
    expect(used).toBeGreaterThanOrEqual(exact);
    // A sum has the tokens of a quarter of an hour, so at most 8 of them count for longer.
    expect(used).toBeLessThanOrEqual(exact + 8);
  });
});

describe('a term that is not enforced', () => {
  const observing = limitsFor([{ tokens: 12, windowMs: day }], 2, 'durable', false);
  const observed = { tokens: 12, windowMs: day, reserve: 2, enforce: false as const };
  const spent = many(10, (index) => noon - hour - index);
  const asked = (record: LedgerRecord, limits: Limits) =>
    decide(situationOf(record, noon, limits), queryFor({ name: 'stock' }));

  test('is stated as such, and has room for whatever a fleet spends', () => {
    expect(observing.terms).toEqual([observed]);
    expect(limitsFor([{ tokens: 12, windowMs: day }], 2, 'durable', true)).toEqual(oneWindow(12, day, 2));
    const [term] = enforcedTerms({ record: recordWith(spent), limits: observing });
    expect(term?.term).toMatchObject({ windowMs: day, usable: 1_000_000, newRecordCeiling: 1_000_000 });
    expect(roomsIn(situationOf(recordWith(spent), noon, observing), 'cold')).toMatchObject([{ used: 10, room: 0 }]);
    expect(observedTerms({ record: recordWith(spent), limits: observing })).toMatchObject([
      { term: observed, own: true },
    ]);
    expect(observedTerms(situationOf(recordWith(spent)))).toEqual([]);
  });

  test('tells what it would have denied, in the decision and in the row', () => {
    const under = asked(recordWith(spent.slice(1)), observing);
    expect(under).toMatchObject({ kind: 'reserve', reserved: { overLimit: undefined } });
    expect(Object.keys(under)).not.toContain('overLimit');
    const strict = asked(recordWith(spent), oneWindow(12, day, 2));
    expect(strict).toMatchObject({ kind: 'deny', denial: { cause: 'limit' } });
    const over = asked(recordWith(spent), observing);
    const { retryAt } = (strict as Extract<typeof strict, { kind: 'deny' }>).denial;
    const overLimit = { cause: 'limit', retryAt, reason: 'cold', enforced: { term: observed } };
    expect(over).toMatchObject({ kind: 'reserve', reserved: { overLimit: true }, overLimit });
  });

  test('leaves no term of another process enforced, and is one for who inherits it', () => {
    const foreign = recordWith(spent, { limits: [statedBy('other', { ...observed, enforce: undefined }, noon)] });
    expect(asked(foreign, observing)).toMatchObject({ kind: 'reserve', reserved: { overLimit: true } });
    expect(observedTerms({ record: foreign, limits: observing })).toHaveLength(2);
    const inherits: Limits = { terms: [], durability: 'durable' };
    expect(asked(recordWith(spent, { limits: [statedBy('other', observed, noon)] }), inherits).kind).toBe('reserve');
    expect(asked(foreign, inherits).kind).toBe('deny');
  });
});
