import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { merge } from '../../src/ledger/merge.ts';
import { settle } from '../../src/ledger/settle.ts';
import { tokenOf } from '../../src/ledger/tokens.ts';
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
import { canonical, seed } from './support/records.ts';

/** So many random histories have each property. `RUNS=10000` tries more. */
const runs = Number(process.env['RUNS'] ?? 40);
// A failing history is made smaller until this time has passed.
const limit = { interruptAfterTimeLimit: runs * 2_000, markInterruptAsFailure: true };
const hold = <Drawn>(property: fc.IProperty<Drawn>): void => fc.assert(property, { ...limit, numRuns: runs });
const timeout = 600_000;

describe(`in any history of a fleet (${runs} of them, seed ${seed})`, () => {
  test('no window has more tokens than are counted, in whatever order outcomes are written', { timeout }, () => {
    let added = 0;
    const law = fc.property(anyHistory, ([start, steps]) => {
      let fleet = start;
      for (const step of steps) {
        fleet = after(fleet, step);
        for (const term of termsOf(fleet)) {
          for (const at of moments(fleet, term))
            expect(counted(fleet.record, at, term)).toBeGreaterThanOrEqual(truth(fleet, at, term));
        }
      }
      added += fleet.record.buckets.length > 0 ? 1 : 0;
    });
    hold(law);
    // Some histories are so long that the record adds up what is old.
    expect(added).toBeGreaterThan(0);
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

  test('an outcome that is written twice has the effect of one', { timeout }, () => {
    let settled = 0;
    const law = fc.property(anyHistory, fc.nat(), ([start, steps], which) => {
      let fleet = start;
      for (const step of steps) {
        fleet = after(fleet, step);
        const { record, now, unwritten, written } = fleet;
        const next = unwritten[which % Math.max(1, unwritten.length)];
        if (next) {
          const once = settle(record, now, next.attempt, next.answer);
          expect(settle(once, now, next.attempt, next.answer)).toEqual(once);
          settled += 1;
        }
        const earlier = written[which % Math.max(1, written.length)];
        if (!earlier) continue;
        const again = settle(record, now, earlier.attempt, earlier.answer);
        expect(usableTokens(again)).toEqual(usableTokens(record));
        for (const term of termsOf(fleet)) {
          const added = counted(again, now, term) - counted(record, now, term);
          // What left the window may count in it once more, if its outcome is heard again.
          const hasLeft = now >= earlier.attempt.at + term.windowMs;
          expect(added === 0 || (hasLeft && added === 1)).toBe(true);
        }
      }
    });
    hold(law);
    expect(settled).toBeGreaterThan(runs);
  });
});

function usableTokens(record: Fleet['record']) {
  return record.tokens.flatMap(({ audience, keyId }) => tokenOf(record, audience, keyId) ?? []);
}

describe(`two copies of one history (${runs} of them)`, () => {
  test('unite alike in either order, and the union knows what each of them knows', { timeout }, () => {
    const law = fc.property(anyHistory, fewSteps, fewSteps, ([start, steps], left, right) => {
      const before = steps.reduce((fleet, step) => after(fleet, step), start);
      const go = (fleet: Fleet, way: readonly Step[]) => way.reduce((copy, step) => after(copy, step), fleet);
      const one = go({ ...before, copy: 'one ' }, left);
      // What was under way has one outcome, which the first copy hears of.
      const other = go({ ...before, underWay: [], unwritten: [], copy: 'other ' }, right);
      const both = merge(one.record, other.record);
      expect(canonical(merge(other.record, one.record))).toBe(canonical(both));
      expect(canonical(merge(both, one.record))).toBe(canonical(both));
      const now = Math.max(one.now, other.now);
      for (const term of termsOf(start)) {
        for (const at of [now, ...moments(one, term), ...moments(other, term)]) {
          expect(counted(both, at, term)).toBeGreaterThanOrEqual(truth(united(one, other), at, term));
        }
      }
      const reset = new Set([...one.reset, ...other.reset]);
      expect(usableTokens(both).filter(({ id }) => reset.has(id))).toEqual([]);
    });
    hold(law);
  });
});

/** What happened in two copies. */
function united(one: Fleet, other: Fleet): Pick<Fleet, 'requests' | 'said'> {
  const known = new Set(one.requests.map(({ id }) => id));
  const others = other.requests.filter(({ id }) => !known.has(id));
  return { requests: [...one.requests, ...others], said: [...one.said, ...other.said] };
}
