import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admission } from '../../src/ledger/admission.ts';
import { compact } from '../../src/ledger/condense.ts';
import { leavesAt, limitsFor } from '../../src/ledger/limits.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import {
  audienceWith,
  declaredBy,
  entriesAt,
  entryAt,
  oneWindow,
  recordWith,
  seed,
  tokenAt,
  usualLimits,
  usualTerm,
} from '../support/records.ts';

describe('compact', () => {
  test('drops what left eight days ago, and says since when it knows everything', () => {
    const gone = noon - 8 * day;
    const record = recordWith({
      entries: [entryAt(gone), entryAt(gone, { pending: true }), entryAt(gone + 1)],
      condensed: [
        { at: gone - hour, pending: false, count: 3 },
        { at: gone + 1, pending: false, count: 4 },
      ],
    });
    const kept = compact(record, noon, usualLimits);
    expect(kept.entries).toEqual(record.entries.slice(2));
    expect(kept.condensed).toEqual([record.condensed[1]]);
    expect(kept.completeSince).toBe(gone + 1);
    expect(compact(kept, noon, usualLimits).completeSince).toBe(gone + 1);
  });

  test('keeps entries for the longest window, whoever declared it', () => {
    const month = { tokens: 1_000, windowMs: 31 * day, reserve: 0 };
    const record = recordWith({ entries: [entryAt(noon - 31 * day)] });
    expect(compact(record, noon, usualLimits).entries).toEqual([]);
    const { terms } = oneWindow(1_000, 31 * day, 0);
    expect(compact(record, noon, { ...usualLimits, terms }).entries).toHaveLength(1);
    const next = declaredBy('next', { tokens: 150, windowMs: day, reserve: 30 }, noon);
    const declared = (seenAt: number) => ({ ...record, terms: [next, declaredBy('other', month, seenAt)] });
    expect(compact(declared(noon - 31 * day), noon, usualLimits).entries).toHaveLength(1);
    const replaced = compact(declared(noon - 31 * day - 3 * hour), noon, usualLimits);
    expect(replaced).toMatchObject({ entries: [], terms: [next] });
  });

  test('keeps a slot until the last of what is in it has ended', () => {
    const refusedUntil = (retryAt: number) => ({ secretId: 'secret', count: 1, retryAt, status: 401 });
    const endingAt = (at: number) => [
      audienceWith({ revoked: at - 31 * day }),
      audienceWith({ token: tokenAt(1, at) }),
      audienceWith({ lease: { id: 'lease', generation: 1, until: at } }),
      audienceWith({ credentialsBackoff: refusedUntil(at - hour) }),
    ];
    const deaths = { count: 0, retryAt: 0, countedUntil: noon };
    const keptOf = (audiences: LedgerRecord['audiences']) =>
      audiences.filter(
        (state) => compact(recordWith({ audiences: [state], deaths }), noon, usualLimits).audiences.length === 1,
      );
    expect(keptOf(endingAt(noon))).toEqual([]);
    expect(keptOf(endingAt(noon + 1))).toHaveLength(4);
  });

  test('keeps the newest 150 in detail and adds up the others by spans of time', () => {
    const span = usualTerm.pendingMs / 96;
    const from = Math.floor((noon - hour) / span) * span;
    const entries = [
      ...entriesAt(from, 4),
      ...entriesAt(from + 1, 3),
      ...entriesAt(from + span, 5),
      ...entriesAt(noon, 150),
    ];
    const kept = compact(recordWith({ entries }), noon, usualLimits);
    expect(kept.entries).toEqual(entries.slice(12));
    expect(kept.condensed).toEqual([
      { at: from + 1, pending: false, count: 7 },
      { at: from + span, pending: false, count: 5 },
    ]);
  });

  test('adds up by the shortest window that an entry has not left, and by hours what has left all of them', () => {
    const limits = limitsFor(
      [
        { tokens: 1_000, windowMs: hour },
        { tokens: 9_000, windowMs: day },
      ],
      0,
      'durable',
    );
    const aged = (from: number, to: number) => {
      const at = (index: number) => noon - from - Math.floor(((to - from) * index) / 2_000);
      const condensed = Array.from({ length: 2_000 }, (_, index) => ({ at: at(index), pending: false, count: 1 }));
      return compact(recordWith({ condensed }), noon, limits).condensed.length;
    };
    expect(aged(0, hour)).toBeGreaterThan(80);
    expect(aged(0, hour)).toBeLessThanOrEqual(98);
    expect(aged(2 * hour, 26 * hour)).toBeLessThanOrEqual(87);
    expect(aged(2 * hour, 26 * hour)).toBeGreaterThan(80);
    expect(aged(2 * day, 7 * day)).toBeLessThanOrEqual(121);
  });

  test('keeps in detail what is younger than a lease or under one, so that its outcome is found', () => {
    const lease = { id: 'old', generation: 1, until: noon + 1 };
    const entries = [
      entryAt(noon - hour, { id: 'old' }),
      ...entriesAt(noon - hour, 9),
      ...entriesAt(noon - 5 * minute, 400),
    ];
    const record = recordWith({ entries, audiences: [audienceWith({ lease })] });
    const kept = compact(record, noon, usualLimits);
    expect(kept.entries).toHaveLength(401);
    expect(kept.entries[0]?.id).toBe('old');
    expect(compact(record, noon + hour, usualLimits).entries).toHaveLength(150);
    expect(compact(recordWith({ entries: entriesAt(noon, 3_000) }), noon, usualLimits).entries).toHaveLength(2_000);
  });

  test.each([
    ['its audience has an entry', {}, [entryAt(noon)]],
    ['its token lives', { token: tokenAt(1, noon + 1) }, []],
    ['somebody has its lease', { lease: { id: 'x', generation: 1, until: noon + 1 } }, []],
    [
      'its secret is refused',
      { credentialsBackoff: { secretId: 'secret', count: 1, retryAt: noon + 1, status: 401 } },
      [],
    ],
    ['a process may still cache the reset token', { revoked: noon - 31 * day + 1 }, []],
  ])('keeps a slot while %s', (_, fields, entries) => {
    const kept = (now: number) =>
      compact(recordWith({ audiences: [audienceWith(fields)], entries }), now, usualLimits).audiences.length;
    expect(kept(noon)).toBe(1);
    expect(kept(noon + 30 * day)).toBe(0);
  });

  test(`never lets a token leave a window earlier than it would have, however often it adds up (seed ${seed})`, () => {
    const limits = limitsFor(
      [
        { tokens: 900, windowMs: 6 * hour },
        { tokens: 9_000, windowMs: day },
      ],
      0,
      'durable',
    );
    const issuances = fc.array(fc.record({ gapMs: fc.integer({ min: 0, max: hour }), pending: fc.boolean() }), {
      minLength: 151,
      maxLength: 400,
    });
    fc.assert(
      fc.property(issuances, fc.integer({ min: 1, max: 30 * hour }), (gaps, restMs) => {
        let now = noon;
        const all: { at: number; pending: boolean }[] = [];
        let record = recordWith();
        for (const { gapMs, pending } of gaps) {
          now += gapMs;
          all.push({ at: now, pending });
          record = compact({ ...record, entries: [...record.entries, entryAt(now, { pending })] }, now, limits);
        }
        now += restMs;
        record = compact(record, now, limits);
        for (const { term, used, pending } of admission(record, now, limits, 'cold')) {
          const mustCount = all.filter((entry) => leavesAt(entry, term) > now);
          expect(used).toBeGreaterThanOrEqual(mustCount.length);
          expect(pending).toBeGreaterThanOrEqual(mustCount.filter((entry) => entry.pending).length);
          // An entry counts for longer by a hundredth of the longest window at most.
          const mayCount = all.filter((entry) => leavesAt(entry, term) + (27 * hour) / 96 > now);
          expect(used).toBeLessThanOrEqual(mayCount.length);
        }
        expect(record.condensed.length).toBeLessThanOrEqual(2 * (2 * 97 + 192));
      }),
      { numRuns: 20 },
    );
  });
});
