import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitsFor, type StoreDurability, termLimits } from '../../src/ledger/limits.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { oneWindow, seed, termOf, usual } from './support/records.ts';

const usualTerm = termOf(usual);

const durabilities: readonly StoreDurability[] = ['process', 'durable', 'replicated'];

describe('the numbers of a term', () => {
  test('keeps a fifth of 150 back for stores that keep what they acknowledged, and half for asynchronous replicas', () => {
    expect(durabilities.map((durability) => termOf(oneWindow(150, day, undefined, durability)).usable)).toEqual([
      120, 120, 75,
    ]);
  });

  test('a reserve that is given replaces the one that follows from the store', () => {
    expect(termOf(oneWindow(150, day, 0, 'replicated'))).toMatchObject({
      tokens: 150,
      usable: 150,
      newRecordCeiling: 150,
    });
    expect(termOf(oneWindow(150, day, 149, 'process')).usable).toBe(1);
  });

  test('counts settled tokens for 25 hours and 10 minutes, unsettled ones for 27 hours, when the window is a day', () => {
    expect(usualTerm).toMatchObject({ settledMs: 25 * hour + 10 * minute, pendingMs: 27 * hour, windowMs: day });
  });

  test('shrinks what it counts beyond the window with the window, but seven minutes remain for a request of five', () => {
    const hourly = termOf(oneWindow(10, hour, undefined, 'durable'));
    expect(hourly.settledMs).toBe(hour + hour / 24 + hour / 144);
    expect(termOf(oneWindow(10, 24 * second)).settledMs).toBe(27 * second);
    expect(hourly.pendingMs).toBe(hour + hour / 24 + 7 * minute);
    expect(termOf(oneWindow(10, 6 * hour)).pendingMs).toBe(6.75 * hour);
    expect(termOf(oneWindow(10, second, undefined, 'durable')).pendingMs).toBeGreaterThan(7 * minute);
    const monthly = termOf(oneWindow(10, 31 * day, undefined, 'durable'));
    expect(monthly).toMatchObject({ settledMs: 31 * day + hour + 10 * minute, pendingMs: 31 * day + 3 * hour });
  });

  test('leaves slots for a cold start above renewals, and slots for reset above all else', () => {
    expect(usualTerm.ceilings).toEqual({ refresh: 84, cold: 110, expired: 110, rejected: 110, reset: 120 });
    expect(usualTerm.rejectedShare).toBe(40);
  });

  test('a new record of a shared store may gain no more than the reserve insures', () => {
    expect(termOf(oneWindow(150, day, undefined, 'process')).newRecordCeiling).toBe(120);
    expect(termOf(oneWindow(150, day, undefined, 'durable')).newRecordCeiling).toBe(30);
    expect(termOf(oneWindow(150, day, undefined, 'replicated')).newRecordCeiling).toBe(25);
  });

  test.each([
    [1, 1, 1],
    [2, 1, 1],
    [3, 2, 1],
    [5, 4, 1],
    [10, 8, 2],
  ])('a limit of %i leaves %i usable, and %i of them for a new record', (tokens, usable, newRecordCeiling) => {
    const limits = termOf(oneWindow(tokens, day, undefined, 'durable'));
    expect(limits).toMatchObject({ tokens, usable, newRecordCeiling });
    expect(limits.ceilings).toMatchObject({ cold: usable, reset: usable });
  });

  test(`any agreement leaves something usable, tiers in order, and windows longer than the provider's (seed ${seed})`, () => {
    const agreement = fc.record({
      tokens: fc.integer({ min: 1, max: 1_000_000 }),
      windowMs: fc.integer({ min: second, max: 31 * day }),
      durability: fc.constantFrom(...durabilities),
    });
    fc.assert(
      fc.property(agreement, ({ tokens, windowMs, durability }) => {
        const { usable, ceilings, newRecordCeiling, settledMs, pendingMs, rejectedShare } = termOf(
          oneWindow(tokens, windowMs, undefined, durability),
        );
        expect(usable).toBeGreaterThan(0);
        expect(usable).toBeLessThanOrEqual(tokens);
        expect(ceilings.refresh).toBeLessThanOrEqual(ceilings.cold);
        expect(ceilings.cold).toBeGreaterThan(0);
        expect(ceilings.cold).toBeLessThanOrEqual(ceilings.reset);
        expect(ceilings.reset).toBe(usable);
        expect(newRecordCeiling).toBeGreaterThan(0);
        expect(newRecordCeiling).toBeLessThanOrEqual(usable);
        expect(rejectedShare).toBeGreaterThan(0);
        expect(settledMs).toBeGreaterThan(windowMs);
        expect(pendingMs).toBeGreaterThan(settledMs);
      }),
    );
  });

  test(`one loss of a durable store fits into the reserve, from 2 tokens on (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 1_000_000 }), (tokens) => {
        const { usable, newRecordCeiling } = termOf(oneWindow(tokens, day, undefined, 'durable'));
        expect(usable + newRecordCeiling).toBeLessThanOrEqual(tokens);
      }),
    );
  });

  test(`three losses or a split of a replicated store fit into the reserve, from 5 tokens on (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 1_000_000 }), (tokens) => {
        const { usable, newRecordCeiling } = termOf(oneWindow(tokens, day, undefined, 'replicated'));
        expect(usable + 3 * newRecordCeiling).toBeLessThanOrEqual(tokens);
        expect(2 * usable).toBeLessThanOrEqual(tokens);
      }),
    );
  });
});

describe('several windows', () => {
  const windows = [
    { tokens: 10, windowMs: hour },
    { tokens: 50, windowMs: day },
  ];
  const reserves = (reserve: number | undefined, durability: StoreDurability) =>
    limitsFor(windows, reserve, durability).terms.map((term) => term.reserve);

  test('keep the default share of each, or the same share as the window with the most tokens', () => {
    expect(reserves(undefined, 'durable')).toEqual([2, 10]);
    expect(reserves(undefined, 'replicated')).toEqual([5, 25]);
    expect(reserves(0, 'durable')).toEqual([0, 0]);
    expect(reserves(7, 'durable')).toEqual([2, 7]);
    expect(reserves(49, 'durable')).toEqual([9, 49]);
  });

  test(`keep a reserve that insures each of them: one loss fits into every window (seed ${seed})`, () => {
    const tokens = fc.integer({ min: 2, max: 1_000 });
    fc.assert(
      fc.property(tokens, tokens, fc.double({ min: 0.01, max: 1, noNaN: true }), (one, other, share) => {
        const reserve = Math.floor(share * (Math.max(one, other) - 1));
        const agreed = [
          { tokens: one, windowMs: hour },
          { tokens: other, windowMs: day },
        ];
        for (const term of limitsFor(agreed, reserve, 'durable').terms) {
          const { usable, newRecordCeiling } = termLimits(term, 'durable');
          expect(term.reserve).toBeLessThan(term.tokens);
          if (term.reserve > 0) expect(usable + newRecordCeiling).toBeLessThanOrEqual(term.tokens);
        }
      }),
    );
  });
});
