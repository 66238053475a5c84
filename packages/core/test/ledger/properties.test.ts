import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/ledger/decide.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import { present, united } from '../../src/ledger/present.ts';
import { isOneRequest, isOpen, type LedgerRecord, tokensInUse } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, noon } from '../support/instants.ts';
import { anyRecord, names } from './support/any-record.ts';
import {
  after,
  anyHistory,
  counted,
  type Fleet,
  fewSteps,
  moments,
  type Step,
  termsFor,
  termsOf,
  truth,
} from './support/fleet.ts';
import { oneWindow, queryFor, seed, seenAt, situationOf } from './support/records.ts';

/** So many random histories have each property. `RUNS=10000` tries more. */
const runs = Number(process.env['RUNS'] ?? 40);
// A failing history is made smaller until this time has passed.
const limit = { interruptAfterTimeLimit: runs * 2_000, markInterruptAsFailure: true };
const hold = <Drawn>(property: fc.IProperty<Drawn>, numRuns = runs): void => {
  fc.assert(property, { ...limit, numRuns });
};
const timeout = 600_000;
const go = (fleet: Fleet, steps: readonly Step[]) => steps.reduce((next, step) => after(next, step), fleet);
const hasSums = ({ spent }: LedgerRecord) => spent.some((one) => !isOneRequest(one) && one.reason !== 'stated');

describe(`in any history of a fleet (${runs} of them, seed ${seed})`, () => {
  test('no window has more tokens than are counted, in whatever order outcomes are written', { timeout }, () => {
    let summed = 0;
    const law = fc.property(anyHistory, ([start, steps]) => {
      let fleet = start;
      for (const step of steps) {
        fleet = after(fleet, step);
        for (const term of termsOf(fleet)) {
          for (const at of moments(fleet, term))
            expect(counted(fleet.record, at, term)).toBeGreaterThanOrEqual(truth(fleet, at, term));
        }
      }
      summed += hasSums(fleet.record) ? 1 : 0;
    });
    hold(law);
    // Some histories are so long that the record adds up what is old.
    expect(summed).toBeGreaterThan(0);
  });

  test('no reservation exceeds the usable tokens of any window that must be kept', { timeout }, () => {
    let full = 0;
    const law = fc.property(anyHistory, ([start, steps]) => {
      let fleet = start;
      for (const step of steps) {
        fleet = after(fleet, step, (reserved, process) => {
          for (const term of termsFor(reserved, process)) {
            const usable = term.tokens - term.reserve;
            const spent = truth(reserved, reserved.now, term);
            expect(spent).toBeLessThanOrEqual(usable);
            expect(counted(reserved.record, reserved.now, term)).toBeLessThanOrEqual(usable);
            full += spent === usable ? 1 : 0;
          }
        });
      }
    });
    hold(law);
    expect(full).toBeGreaterThan(0);
  });

  test('an outcome that is written twice has the effect of one, whatever was written in between', { timeout }, () => {
    let pairs = 0;
    const law = fc.property(anyHistory, fc.nat(), ([start, steps], which) => {
      let fleet = start;
      for (const step of steps) {
        fleet = after(fleet, step);
        const { record, now, unwritten, written } = fleet;
        const enter = (to: LedgerRecord, { reserved, answer }: (typeof unwritten)[number]) =>
          settle(to, now, reserved, answer);
        const one = unwritten[which % Math.max(1, unwritten.length)];
        const other = unwritten[(which + 1) % Math.max(1, unwritten.length)];
        if (one && other && one !== other) {
          for (const [first, second] of [[one, other] as const, [other, one] as const]) {
            const both = enter(enter(record, first), second);
            expect(enter(both, first)).toEqual(both);
            expect(enter(both, second)).toEqual(both);
          }
          pairs += 1;
        }
        const earlier = written[which % Math.max(1, written.length)];
        if (!earlier) continue;
        const again = enter(record, earlier);
        expect(tokensInUse(again, now)).toEqual(tokensInUse(record, now));
        for (const term of termsOf(fleet)) {
          const added = counted(again, now, term) - counted(record, now, term);
          // What left the window, or became a part of a sum, may count in it once more.
          const isForgotten = !record.spent.some(({ id }) => id === earlier.reserved.id);
          expect(added === 0 || (isForgotten && added === 1)).toBe(true);
        }
      }
    });
    hold(law);
    expect(pairs).toBeGreaterThan(runs / 4);
  });
});

describe(`two copies of one history (${runs} of them)`, () => {
  test('unite without losing a token or a reset, whichever comes first', { timeout }, () => {
    let summed = 0;
    const law = fc.property(anyHistory, fewSteps, fewSteps, ([start, steps], left, right) => {
      const before = go(start, steps);
      const one = go({ ...before, copy: 'one ' }, left);
      // What was under way has one outcome, which the first copy hears of.
      const other = go({ ...before, underWay: [], unwritten: [], copy: 'other ' }, right);
      const now = Math.max(one.now, other.now);
      const reset = new Set([...one.reset, ...other.reset]);
      for (const both of [united(one.record, other.record, now), united(other.record, one.record, now)]) {
        for (const copy of [one.record, other.record]) expect(united(both, copy, now)).toEqual(both);
        for (const term of termsOf(start)) {
          for (const at of [now, ...moments(one, term), ...moments(other, term)])
            expect(counted(both, at, term)).toBeGreaterThanOrEqual(truth(inBoth(one, other), at, term));
        }
        expect(tokensInUse(both, now).filter(({ id }) => reset.has(id))).toEqual([]);
      }
      summed += hasSums(one.record) || hasSums(other.record) ? 1 : 0;
    });
    hold(law);
    expect(summed).toBeGreaterThan(0);
  });

  test('unite without losing a token when one of them is older, and the other one added up what is old', {
    timeout,
  }, () => {
    let summed = 0;
    const law = fc.property(anyHistory, fc.double({ min: 0, max: 1, noNaN: true }), ([start, steps], share) => {
      const older = go(start, steps.slice(0, Math.floor(share * steps.length)));
      const newer = go(older, steps.slice(Math.floor(share * steps.length)));
      for (const both of [
        united(older.record, newer.record, newer.now),
        united(newer.record, older.record, newer.now),
      ]) {
        for (const term of termsOf(start)) {
          for (const at of moments(newer, term))
            expect(counted(both, at, term)).toBeGreaterThanOrEqual(counted(newer.record, at, term));
        }
      }
      summed += hasSums(newer.record) && !hasSums(older.record) ? 1 : 0;
    });
    hold(law);
    expect(summed).toBeGreaterThan(0);
  });
});

/** What happened in two copies. */
function inBoth(one: Fleet, other: Fleet): Pick<Fleet, 'requests' | 'said'> {
  const known = new Set(one.requests.map(({ id }) => id));
  const others = other.requests.filter(({ id }) => !known.has(id));
  return { requests: [...one.requests, ...others], said: [...one.said, ...other.said] };
}

/** The agreements that a process may have: one window or two, large or small. */
const anyLimits: fc.Arbitrary<Limits> = fc.constantFrom(
  oneWindow(150),
  oneWindow(20),
  oneWindow(150, day, 75, 'replicated'),
  oneWindow(2, hour),
  limitsFor(
    [
      { tokens: 10, windowMs: hour },
      { tokens: 50, windowMs: day, counts: 'requests' },
    ],
    undefined,
    'durable',
  ),
);
const reasons = ['cold', 'refresh', 'rejected', 'reset'] as const;
const many = runs * 25;

describe(`any record (${many} of them, seed ${seed})`, () => {
  test('united with itself is the same', { timeout }, () => {
    const law = fc.property(anyRecord, (record) => {
      expect(united(record, record, noon)).toEqual(record);
    });
    hold(law, many);
  });

  test('is true now after it was looked at once, whatever the store lost and its clock did', { timeout }, () => {
    const elapsed = fc.nat({ max: 3 * day });
    const stepMs = fc.oneof(fc.constant(0), fc.integer({ min: -30 * hour, max: 30 * hour }));
    const returned = fc.constantFrom('same', 'older', 'newer', 'another', 'none');
    let changes = 0;
    const law = fc.property(
      anyRecord,
      anyRecord,
      elapsed,
      elapsed,
      stepMs,
      returned,
      (known, other, min, sleepMs, byMs, how) => {
        const seen = seenAt(known, noon, min, min + sleepMs + 1);
        const now = noon + min + byMs;
        const loaded = {
          same: known,
          older: { ...other, sequence: 4 },
          newer: { ...other, sequence: 12 },
          another: { ...other, id: 'another record' },
          none: undefined,
        }[how];
        const found = present(loaded, seen, now, 'new record');
        expect(found.changed || loaded !== undefined).toBe(true);
        if (found.changed) changes += 1;
        else expect({ ...found.record, latestAt: 0 }).toEqual({ ...loaded, latestAt: 0 });
        // Whoever looks writes it, and looks again.
        const written = found.changed ? { ...found.record, sequence: found.record.sequence + 1 } : found.record;
        const again = present(written, seen, now, 'newer record');
        expect(again.record).toEqual(written);
        expect([again.changed, again.restored]).toEqual([false, 0]);
        const blind = present(written, undefined, now, 'newer record');
        expect([blind.record, blind.changed]).toEqual([written, false]);
      },
    );
    hold(law, many);
    expect(changes).toBeGreaterThan(many / 2);
  });

  /** What a process may do that needs another token than those of the record. */
  function asked(record: LedgerRecord, at: number, name: string, reason: (typeof reasons)[number], limits: Limits) {
    const { record: whole } = present(record, undefined, at, 'another record');
    const query = queryFor({ name, reason, unusable: record.tokens.map(({ id }) => id) });
    return decide(situationOf(whole, at, limits), query);
  }

  test('denies until `retryAt` and not after it, and what it allows it goes on allowing', { timeout }, () => {
    const seen = { denied: 0, allowed: 0 };
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const law = fc.property(
      anyRecord,
      anyLimits,
      fc.constantFrom(...names, 'new'),
      share,
      (record, limits, name, part) => {
        const { record: whole } = present(record, undefined, noon, 'another record');
        const lapsesAt = Math.min(...whole.spent.flatMap((one) => (isOpen(one, noon) ? (one.until as number) : [])));
        for (const reason of reasons) {
          const first = asked(record, noon, name, reason, limits);
          if (first.kind === 'deny') {
            const { retryAt } = first.denial;
            expect(Number.isInteger(retryAt)).toBe(true);
            const later = noon + Math.floor(part * (Math.min(retryAt, lapsesAt) - noon - 1));
            expect(asked(record, later, name, reason, limits)).toEqual(first);
            if (retryAt < lapsesAt) expect(asked(record, retryAt, name, reason, limits).kind).not.toBe('deny');
            seen.denied += 1;
          }
          if (first.kind === 'reserve') {
            const later = noon + Math.floor(part * (Math.min(noon + 3 * day, lapsesAt) - noon - 1));
            expect(asked(record, later, name, reason, limits).kind).toBe('reserve');
            seen.allowed += 1;
          }
        }
      },
    );
    hold(law, many);
    expect(seen.denied).toBeGreaterThan(many / 10);
    expect(seen.allowed).toBeGreaterThan(many / 10);
  });

  test('is decided upon by its counts and pauses alone, not by what people and `present` read', { timeout }, () => {
    const law = fc.property(
      anyRecord,
      anyRecord,
      anyLimits,
      fc.constantFrom(...names, 'new'),
      (one, other, limits, name) => {
        const { id, sequence, latestAt, movedMs, log, quota } = other;
        const hinted = {
          ...one,
          id: `other ${id}`,
          sequence: sequence + 1,
          latestAt: latestAt + 1,
          movedMs,
          log,
          quota,
        };
        for (const reason of reasons) {
          const query = queryFor({ name, reason, unusable: one.tokens.slice(1).map((token) => token.id) });
          const { record: _, ...expected } = { record: one, ...decide(situationOf(one, noon, limits), query) };
          expect(decide(situationOf(hinted, noon, limits), query)).toMatchObject(expected);
        }
      },
    );
    hold(law, many);
  });
});
