import { describe, expect, test } from 'vitest';
import type { LedgerRecord, Outcome } from '../../src/ledger/journal.ts';
import { merge } from '../../src/ledger/merge.ts';
import { day, hour } from '../support/instants.ts';
import { attemptAt, recordWith, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { canonical, used } from './support/records.ts';

/** Two processes that lost the store unite what they remember, each with its own record first. */
function united(one: LedgerRecord, other: LedgerRecord): LedgerRecord {
  const both = merge(one, other);
  expect(canonical(merge(other, one))).toBe(canonical(both));
  return both;
}

describe('two copies of a record', () => {
  test('have both agreements, with what a later release adds to them', () => {
    const term = { tokens: 150, windowMs: day, reserve: 30, seenAt: noon, by: 'process' };
    const [older, newer] = [
      { ...term, seenAt: noon - hour, more: ['added by a later release'] },
      { ...term, tokens: 10, windowMs: hour, reserve: 2 },
    ];
    const { terms } = united(recordWith([], { terms: [older] }), recordWith([], { terms: [newer, term] }));
    expect(terms).toHaveLength(2);
    expect(terms).toContainEqual({ ...term, more: ['added by a later release'] });
  });

  test('show the same agreement first, whoever united them', () => {
    const declared = (tokens: number, seenAt: number) => ({ tokens, windowMs: day, reserve: 0, seenAt, by: 'process' });
    const [first, second, third] = [declared(1, noon - hour), declared(2, noon), declared(3, noon)];
    const { terms } = united(recordWith([], { terms: [first, third] }), recordWith([], { terms: [second] }));
    expect(terms.map(({ tokens }) => tokens)).toEqual([2, 3, 1]);
  });

  test('keep the same one of two things that a later release added', () => {
    const added = (cell: unknown) => recordWith([attemptAt(noon, { more: [[cell]] })]);
    expect(united(added(1), added({ of: 'a later release' })).attempts[0]?.more).toEqual([[{ of: 'a later release' }]]);
  });

  const outcome = (kind: string): Outcome => ({ kind, at: noon, charge: 1 });
  test.each([
    ['a token that arrived', 'issued', 'unknown', 'issued'],
    ['that nobody knows', 'unknown', 'a later kind', 'unknown'],
    ['one of two kinds of a later release', 'a later kind', 'another later kind', 'another later kind'],
  ])('agree on what came of an attempt: %s', (_, one, other, both) => {
    const [a, b] = [one, other].map((kind) => recordWith([attemptAt(noon, { outcome: outcome(kind) })]));
    expect(united(a as LedgerRecord, b as LedgerRecord).attempts).toMatchObject([{ outcome: { kind: both } }]);
  });

  test('count the larger charge of an attempt, though the other outcome is the later one', () => {
    const charged = (kind: string, charge: number) =>
      recordWith([attemptAt(noon, { outcome: { kind, at: noon, charge } })]);
    const both = united(charged('unsent', 1), charged('refused', 0));
    expect(both.attempts.map(({ outcome }) => outcome?.kind)).toEqual(['refused']);
    expect(used(both, noon, usual)).toBe(1);
  });
});
