import { beforeAll, describe, expect, test } from 'vitest';
import { chargeOf, isFolded, isIssued } from '../../../packages/core/src/ledger/attempt.ts';
import { compact } from '../../../packages/core/src/ledger/compact.ts';
import { countOf, leavesAt, partsOf } from '../../../packages/core/src/ledger/count.ts';
import type { LedgerRecord } from '../../../packages/core/src/ledger/journal.ts';
import { type Limits, limitsFor, termLimits } from '../../../packages/core/src/ledger/limits.ts';
import { bucketName, merge } from '../../../packages/core/src/ledger/merge.ts';
import { type KeptRecord, recordsOf } from '../src/kept-records.ts';
import { createRandom, type Random } from '../src/random.ts';

const day = 86_400_000;
const triples = 300;
const limits: Limits = limitsFor([{ tokens: 1_000, windowMs: day }], 0, 'durable');
const terms = limits.terms.map((term) => termLimits(term, 'durable'));

/** The runs from whose records the laws are taken: resets, orders, what was said, more than 150 tokens, stores that go back or fork, clocks that are set. */
const modes = [
  'faults',
  'many',
  'alarms',
  'said',
  'failover',
  'split',
  'remembered',
  'to-and-fro',
  'leaps',
  'disagree',
];

/** The same text for equal records, in whatever order their members come. */
function canonical(value: unknown): string {
  if (value !== Object(value)) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${name}:${canonical(member)}`).sort()}}`;
}

const usedAt = (record: LedgerRecord, now: number) => terms.map((term) => countOf(partsOf(record, now, term)));

function* drawn(kept: readonly KeptRecord[], random: Random): Generator<readonly [KeptRecord, KeptRecord, KeptRecord]> {
  for (let triple = 0; triple < triples; triple++) yield [random.pick(kept), random.pick(kept), random.pick(kept)];
}

describe.each(modes)('the records of a run of the mode %s', (mode) => {
  let kept: readonly KeptRecord[] = [];
  beforeAll(async () => {
    kept = await recordsOf({ mode, seed: 1 });
  }, 120_000);

  test('are united alike in whatever order, and however often', { timeout: 120_000 }, () => {
    expect(kept.length).toBeGreaterThan(10);
    for (const [{ record: one }, { record: other }, { record: third }] of drawn(kept, createRandom(mode))) {
      const both = merge(one, other);
      expect(canonical(merge(other, one))).toBe(canonical(both));
      expect(canonical(merge(both, third))).toBe(canonical(merge(one, merge(other, third))));
      expect(canonical(merge(both, both))).toBe(canonical(both));
      expect(canonical(merge(both, one))).toBe(canonical(both));
    }
  });

  test('lose no token, no reset and no bucket when they are united', { timeout: 120_000 }, () => {
    for (const [{ record: one }, { record: other }] of drawn(kept, createRandom(mode))) {
      const both = merge(one, other);
      const attempts = new Map(both.attempts.map((attempt) => [attempt.id, attempt]));
      const buckets = new Map(both.buckets.map((bucket) => [bucketName(bucket), bucket.count]));
      for (const side of [one, other]) {
        const known = side.attempts.filter(isIssued);
        expect(known.filter(({ id }) => !isIssued(attempts.get(id) ?? ({} as never)))).toEqual([]);
        // What does not count in detail is in a bucket of the side that added it up.
        for (const attempt of known.filter((attempt) => isFolded(both, attempt)))
          expect(isFolded(one, attempt) || isFolded(other, attempt)).toBe(true);
        for (const bucket of side.buckets) expect(buckets.get(bucketName(bucket))).toBeGreaterThanOrEqual(bucket.count);
        for (const [audience, upTo] of Object.entries(side.revoked))
          expect(both.revoked[audience]).toBeGreaterThanOrEqual(upTo);
        expect(both.completeSince).toBeGreaterThanOrEqual(side.completeSince);
      }
    }
  });

  test('count the same when they are compacted, then and later', { timeout: 120_000 }, () => {
    const random = createRandom(mode);
    for (const [{ record, now }] of drawn(kept, random)) {
      const ledgerNow = Math.max(record.highWaterAt, now);
      const compacted = compact(record, ledgerNow, limits);
      expect(usedAt(compacted, ledgerNow)).toEqual(usedAt(record, ledgerNow));
      expect(compacted.completeSince).toBeGreaterThanOrEqual(record.completeSince);
      expect(canonical(compact(compacted, ledgerNow, limits))).toBe(canonical(compacted));
      const later = ledgerNow + random.between(0, 1.2 * day);
      for (const [at, used] of usedAt(compacted, later).entries())
        expect(used).toBeGreaterThanOrEqual(usedAt(record, later)[at] ?? 0);
    }
  });

  test('count no token for longer than one of unknown outcome', () => {
    for (const { record } of kept)
      for (const attempt of record.attempts.filter((attempt) => chargeOf(attempt) > 0))
        for (const term of terms) expect(leavesAt(attempt, term)).toBeLessThanOrEqual(attempt.at + term.pendingMs);
  });
});
