import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/ledger/decide.ts';
import { availableFor, refusedUntil, spentAt } from '../../src/ledger/forecast.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import { present } from '../../src/ledger/present.ts';
import { isOpen, type LedgerRecord, resetUpTo, type Spent } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { anyRecord } from './support/any-record.ts';
import {
  issued,
  issuedAt,
  oneWindow,
  openAt,
  queryFor,
  recordWith,
  refusedAt,
  seed,
  several,
  situationOf,
  statedBy,
  termOf,
  unknownAt,
  usual,
} from './support/records.ts';

const caller = { name: 'orders', keyId: 'key', secretId: 'secret' };
const limits = limitsFor([{ tokens: 60, windowMs: day }], undefined, 'durable');

/** Any record at noon, in which a token whose reset may spend more is not asked for, and none is awaited. */
const plain = anyRecord
  .map((record) => present(record, undefined, noon, 'another record').record)
  .filter((record) => resetUpTo(record, caller.name) === 0)
  .filter(({ spent }) => !spent.some((one) => isOpen(one, noon) && one.name === caller.name));
const everyToken = (record: LedgerRecord) => record.tokens.map(({ id }) => id);

describe(`in any record (seed ${seed})`, () => {
  test('as many callers as are said get a token each, and the next one does not', () => {
    let some = 0;
    const law = fc.property(plain, (record) => {
      const said = availableFor('cold', situationOf(record, noon, limits), caller);
      let [next, served] = [record, 0];
      for (; ; served++) {
        const query = queryFor({ ...caller, id: `${served}`, unusable: everyToken(next) });
        const decision = decide(situationOf(next, noon, limits), query);
        if (decision.kind !== 'reserve') break;
        next = settle(decision.record, noon, decision.reserved, issued(decision.reserved, noon));
      }
      // The first token may end what holds up the next one, so more may get one than was said.
      if (said === 0) expect(served).toBe(0);
      else expect(served).toBeGreaterThanOrEqual(said);
      if (said > 1) expect(served).toBe(said);
      some += said > 0 ? 1 : 0;
    });
    fc.assert(law, { numRuns: 400 });
    expect(some).toBeGreaterThan(20);
  });

  test('a caller that is refused gets a token at the instant that is said, and not before', () => {
    let refused = 0;
    const law = fc.property(plain, (record) => {
      const refusal = refusedUntil(situationOf(record, noon, limits), caller);
      const query = queryFor({ ...caller, unusable: everyToken(record) });
      const kindAt = (at: number) => decide(situationOf(record, at, limits), query).kind;
      if (!refusal) {
        expect(['reserve', 'wait']).toContain(kindAt(noon));
        return;
      }
      refused += 1;
      expect(kindAt(refusal.until - 1)).toBe('deny');
      expect(['reserve', 'wait']).toContain(kindAt(refusal.until));
    });
    fc.assert(law, { numRuns: 400 });
    expect(refused).toBeGreaterThan(40);
  });
});

describe('the number of tokens that can be issued now', () => {
  const available = (record: LedgerRecord, purpose: 'cold' | 'rejected' | 'reset' = 'cold') =>
    availableFor(purpose, situationOf(record), caller);

  test('is the room of the tightest window, if all requests succeed', () => {
    expect([available(recordWith([])), available(recordWith([]), 'reset')]).toEqual([110, 120]);
    const other = statedBy('other', { tokens: 100, windowMs: hour, reserve: 0 }, noon);
    expect(available(recordWith([issuedAt(noon)], { limits: [other] }))).toBe(91);
  });

  test('is one if the next one has to wait for its outcome', () => {
    expect(available(recordWith([]), 'rejected')).toBe(1);
    const failures = { count: 1, at: noon - hour, kind: 'unreached' as const };
    expect(available(recordWith([], { states: { orders: { failures } } }))).toBe(1);
    const open = (count: number) => several(count, (index) => openAt(noon - 1, { id: `${index}`, name: `${index}` }));
    expect([13, 14, 15].map((count) => available(recordWith(open(count))))).toEqual([97, 1, 0]);
  });

  test('is none while something holds up the caller', () => {
    const later = { until: noon + 1, at: noon, kind: 'refused' as const };
    expect(available(recordWith([], { later }))).toBe(0);
  });
});

describe('the instant at which nothing is left', () => {
  const spentBy = (spent: readonly Spent[], agreement: Limits = usual, fields: Partial<LedgerRecord> = {}) =>
    spentAt(situationOf(recordWith(spent, fields), noon, agreement));
  const every = (ms: number, count: number) =>
    several(count, (index) => issuedAt(noon - index * ms, { id: `${index}` }));

  test('is now if nothing is left now', () => {
    expect(spentBy(every(second, 110))).toBe(noon);
  });

  test('follows from how fast tokens were spent in the last quarter of the window', () => {
    // 50 tokens are left, and one is spent every six minutes.
    const at = spentBy(every(6 * minute, 60)) as number;
    expect((at - noon) / hour).toBeGreaterThan(4.5);
    expect((at - noon) / hour).toBeLessThan(5.5);
  });

  test('is unknown if tokens leave as fast as they are spent, or none was spent lately', () => {
    expect(spentBy(every(hour, 20))).toBeUndefined();
    expect(spentBy([])).toBeUndefined();
    expect(spentBy([issuedAt(noon)])).toBeUndefined();
    expect(spentBy(several(90, (index) => issuedAt(noon - 10 * hour - index)))).toBeUndefined();
  });

  test('does not follow from refusals, and from what somebody said', () => {
    const stated = issuedAt(noon, { id: 'stated', reason: 'stated', tokens: 100 });
    expect(spentBy([stated, ...several(90, (index) => refusedAt(noon - index))])).toBeUndefined();
  });

  test('of tokens that came within an hour of a day takes that hour to be the rule', () => {
    const fast = spentBy(every(second, 60)) as number;
    expect((fast - noon) / hour).toBeCloseTo(51 / 60, 0);
  });

  test('is that of the window that ends first', () => {
    const other = statedBy('other', { tokens: 70, windowMs: day, reserve: 0 }, noon);
    const [alone, both] = [{}, { limits: [other] }].map(
      (fields) => spentBy(every(6 * minute, 60), usual, fields) as number,
    );
    expect(both).toBeLessThan(alone as number);
    const gone = { limits: [{ ...other, seenAt: noon - hour }] };
    expect(spentBy(every(6 * minute, 60), usual, gone)).toBe(alone);
  });

  test('of a short window regards the minutes for which tokens of unknown outcome count longer', () => {
    const brief = oneWindow(10, minute);
    const at = spentBy(
      several(4, (index) => unknownAt(noon - index * 3 * second)),
      brief,
    ) as number;
    expect(at).toBeGreaterThan(noon);
    expect(at).toBeLessThan(noon + termOf(brief).pendingMs);
  });
});
