import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact, slotMs } from '../../src/ledger/compact.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { merge } from '../../src/ledger/merge.ts';
import { pace } from '../../src/ledger/pace.ts';
import { hour } from '../support/instants.ts';
import { randomOf } from '../support/seeded-random.ts';
import { historyOf, type Snapshot, wide } from './support/history.ts';
import { anyRecord, canonical, laws, seed, used } from './support/records.ts';

const timeout = 600_000;
// Most members come in the same order, so the slower comparison is rarely needed.
const same = (one: LedgerRecord, other: LedgerRecord) =>
  JSON.stringify(one) === JSON.stringify(other) || canonical(one) === canonical(other);
/** The texts of two records, if they differ. */
const differing = (one: LedgerRecord, other: LedgerRecord) =>
  same(one, other) ? [] : [canonical(one), canonical(other)];

describe('any two or three records', () => {
  test(`are united alike in whatever order, and however often (${laws} of them, seed ${seed})`, { timeout }, () => {
    const law = fc.property(anyRecord, anyRecord, anyRecord, (one, other, third) => {
      expect(differing(merge(one, other), merge(other, one))).toEqual([]);
      expect(differing(merge(merge(one, other), third), merge(one, merge(other, third)))).toEqual([]);
      const both = merge(one, other);
      expect(differing(merge(both, both), both)).toEqual([]);
      expect(differing(merge(both, other), both)).toEqual([]);
    });
    fc.assert(law, { numRuns: laws });
  });
});

/** Calls `law` with random triples of records of one client, from as many random histories as are needed. */
function forTriples(law: (one: Snapshot, other: Snapshot, third: Snapshot) => void): void {
  for (let tried = 0, round = 0; tried < laws; round++) {
    const random = randomOf(seed + round);
    const snapshots = historyOf(seed + round, { steps: round % 8 === 0 ? 500 : 60, faults: true });
    const any = () => snapshots[Math.floor(random() ** 0.7 * snapshots.length)] as Snapshot;
    for (let triple = 0; triple < 100; triple++, tried++) law(any(), any(), any());
  }
}

describe('records of one client', () => {
  test(`are united alike in whatever order, and no token or reset is lost (${laws} of them)`, { timeout }, () => {
    let folded = 0;
    let epochs = 0;
    forTriples((one, other, third) => {
      const both = merge(one.record, other.record);
      if (!same(both, merge(other.record, one.record))) expect.fail('not commutative');
      if (!same(merge(both, third.record), merge(one.record, merge(other.record, third.record))))
        expect.fail('not associative');
      if (!same(merge(both, other.record), both)) expect.fail('not idempotent');
      const known = new Set([...one.spent, ...other.spent].filter((id) => !one.free.has(id)));
      const counted = totalOf(both);
      if (counted < known.size) expect.fail(`${counted} of ${known.size} tokens are counted`);
      for (const { revoked } of [one.record, other.record]) {
        for (const [audience, upTo] of Object.entries(revoked))
          expect(both.revoked[audience]).toBeGreaterThanOrEqual(upTo);
      }
      folded += both.buckets.length > 0 ? 1 : 0;
      epochs += one.record.epoch === other.record.epoch ? 0 : 1;
    });
    expect(folded).toBeGreaterThan(laws / 50);
    expect(epochs).toBeGreaterThan(laws / 50);
  });

  test('that went different ways in one epoch count every token of both, up to 100 attempts later', { timeout }, () => {
    for (let round = 0; round < 20; round++) {
      const [before] = historyOf(round, { steps: 300 }).slice(-1) as [Snapshot];
      const ways = ['left', 'right'].map((way) => {
        const attempts = Array.from({ length: 100 }, (_, index) => {
          const at = before.now + index;
          return { ...lastOf(before.record), id: `${way} ${index}`, generation: at + 1_000, at, until: 0 };
        });
        const record = { ...before.record, attempts: [...before.record.attempts, ...attempts] };
        return compact(record, before.now + 1_000, wide);
      });
      const [left, right] = ways as [LedgerRecord, LedgerRecord];
      expect(totalOf(merge(left, right))).toBe(totalOf(before.record) + 200);
    }
  });
});

function lastOf(record: LedgerRecord): LedgerRecord['attempts'][number] {
  return record.attempts.find(({ outcome }) => outcome?.kind === 'issued') as LedgerRecord['attempts'][number];
}

/** Returns how many tokens a record counts, whatever their age. */
function totalOf(record: LedgerRecord): number {
  const detailed = record.attempts.filter(({ epoch, generation }) => generation > (record.folded[epoch] ?? 0));
  const charges = [...detailed.map(({ outcome }) => outcome?.charge ?? 1), ...record.buckets.map(({ count }) => count)];
  return charges.reduce((sum, charge) => sum + charge, 0);
}

describe('compaction', () => {
  test('changes nothing that is counted or paced', { timeout }, () => {
    let holds = 0;
    let folds = 0;
    for (let round = 0; round < Math.max(60, laws / 50); round++) {
      const random = randomOf(round);
      const snapshots = historyOf(seed + round, { steps: 350, compacts: false });
      const some = [1, 2, 3].map(() => snapshots[Math.floor((0.5 + random() / 2) * snapshots.length)] as Snapshot);
      for (const { record, now } of [...some, snapshots.at(-1) as Snapshot]) {
        const compacted = compact(record, now, wide);
        folds += compacted.buckets.length > 0 ? 1 : 0;
        const later = now + Math.floor(random() * 2 * hour);
        expect(used(compacted, now, wide)).toBe(used(record, now, wide));
        for (let at = now; at < now + 30 * hour; at += hour) {
          expect(used(compacted, at, wide)).toBeGreaterThanOrEqual(used(record, at, wide));
          expect(used(compacted, at, wide)).toBeLessThanOrEqual(used(record, at - slotMs, wide));
        }
        for (const at of [now, later]) {
          for (const audience of new Set(record.attempts.map((attempt) => attempt.audience))) {
            for (const reason of ['cold', 'refresh', 'rejected'] as const) {
              const caller = { audience, keyId: 'key', secretId: 'secret' };
              const paced = (of: LedgerRecord) => {
                const { holds: all, ...rest } = pace(of, at, caller, reason, wide);
                const holds = all.filter(({ until }) => until > at);
                return { ...rest, holds: holds.map(({ attempt: _, ...hold }) => hold) };
              };
              const before = paced(record);
              holds += before.holds.length;
              expect(paced(compacted)).toEqual(before);
            }
          }
        }
      }
    }
    expect(folds).toBeGreaterThan(10);
    expect(holds).toBeGreaterThan(100);
  });
});
