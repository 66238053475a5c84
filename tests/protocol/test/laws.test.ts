import { createServiceAuth, type ServiceAuthOptions, type Store } from '@service-auth/core';
import { byDay, isNight } from '@service-auth/test-tools/night';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../../packages/core/src/ledger/codec.ts';
import { compact } from '../../../packages/core/src/ledger/compact.ts';
import { countOf, leavesAt } from '../../../packages/core/src/ledger/count.ts';
import { decide, type Query } from '../../../packages/core/src/ledger/decide.ts';
import { type Limits, limitsFor, termLimits } from '../../../packages/core/src/ledger/limits.ts';
import { type Asker, holdsOf } from '../../../packages/core/src/ledger/pace.ts';
import { type Present, present, united } from '../../../packages/core/src/ledger/present.ts';
import { isOneRequest, isOpen, type LedgerRecord, resetUpTo } from '../../../packages/core/src/ledger/record.ts';
import { seenBefore } from '../src/fuzz/records.ts';
import { day } from '../src/judge/units.ts';
import { createRandom, type Random } from '../src/random.ts';
import { run } from '../src/run.ts';

const draws = isNight ? 300 : 100;
const limits: Limits = limitsFor([{ tokens: 1_000, windowMs: day }], 0, 'durable');
/** Most records have spent so much. */
const tight: Limits = limitsFor([{ tokens: 3, windowMs: day }], 0, 'durable');
const terms = limits.terms.map((term) => termLimits(term, 'durable'));
const reasons = ['cold', 'refresh', 'rejected', 'reset'] as const;

/** The runs from whose records the laws are taken: resets, orders, what was said, more than 150 tokens, stores that go back or fork, clocks that are set. */
const all = ['faults', 'many', 'alarms', 'said', 'failover', 'split', 'remembered', 'to-and-fro', 'leaps', 'disagree'];
const modes = byDay(all, (mode) => ['many', 'alarms', 'failover', 'leaps', 'disagree'].includes(mode));

/** A record that a process of a run wrote, and the store's clock then. */
interface KeptRecord {
  readonly record: LedgerRecord;
  readonly now: number;
}

/** All records that were written in a run, in this order. */
async function recordsOf(mode: string): Promise<KeptRecord[]> {
  const kept: KeptRecord[] = [];
  const watched = (options: ServiceAuthOptions) => {
    const store = options.store as Store;
    const swap: Store['swap'] = async (key, change, context) => {
      const result = await store.swap(key, change, context);
      if (result.swapped) kept.push({ record: decodeRecord(change.record) as LedgerRecord, now: result.now });
      return result;
    };
    return createServiceAuth({ ...options, store: { ...store, swap } });
  };
  await run({ mode, seed: 1 }, watched);
  return kept;
}

/** The same text for equal records, in whatever order their members come. */
function canonical(value: unknown): string {
  if (value !== Object(value)) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).sort()}}`;
}

const usedAt = ({ spent }: LedgerRecord, now: number) => terms.map((term) => countOf(spent, term, now));

/** The record as a process reads it: the store's clock is not behind. */
const read = ({ record, now }: KeptRecord): Present =>
  present(record, undefined, Math.max(record.latestAt, now), 'new');

/** Asks for a token in place of all that the record has. */
function asked(record: LedgerRecord, now: number, asker: Asker, reason: Query['reason']) {
  const unusable = record.tokens.map(({ id }) => id);
  const query = { ...asker, reason, unusable, resetUpTo: 0, id: 'a new one', instance: 'one', leaseMs: 60_000 };
  return decide({ record, now, limits: tight }, query);
}

describe.each(modes)('the records of a run of the mode %s', (mode) => {
  let kept: readonly KeptRecord[] = [];
  beforeAll(async () => {
    kept = await recordsOf(mode);
    expect(kept.length).toBeGreaterThan(10);
  }, 120_000);

  function drawn(law: (one: KeptRecord, other: KeptRecord, random: Random) => void): void {
    const random = createRandom(mode);
    for (let draw = 0; draw < draws; draw++) law(random.pick(kept), random.pick(kept), random);
  }

  test('are read as they were written', () => {
    for (const { record } of kept) expect(canonical(decodeRecord(encodeRecord(record)))).toBe(canonical(record));
  });

  test('lose no token and no reset when they are united', { timeout: 120_000 }, () => {
    drawn(({ record: one, now }, { record: other }) => {
      const both = united(one, other, now);
      const sums = both.spent.filter((each) => !isOneRequest(each));
      for (const side of [one, other]) {
        for (const { id, generation } of side.spent.filter(({ issuedAt }) => issuedAt !== undefined)) {
          const row = both.spent.find((each) => each.id === id);
          expect(row?.issuedAt !== undefined || sums.some((sum) => sum.generation >= generation)).toBe(true);
        }
        for (const name of Object.keys(side.states))
          expect(resetUpTo(both, name)).toBeGreaterThanOrEqual(resetUpTo(side, name));
        for (const [at, used] of usedAt(both, now).entries())
          expect(used).toBeGreaterThanOrEqual(usedAt(side, now)[at] ?? 0);
      }
      expect(canonical(united(both, both, now))).toBe(canonical(both));
      expect(canonical(united(both, other, now))).toBe(canonical(both));
    });
  });

  test('stay as they are when they are made true twice', { timeout: 120_000 }, () => {
    let changes = 0;
    drawn((loaded, memory, random) => {
      const seen = seenBefore(memory, random);
      const { minElapsedMs, maxElapsedMs } = seen;
      const now = Math.round(memory.now + random.pick([minElapsedMs, maxElapsedMs, random.between(-day, 2 * day)]));
      const once = present(loaded.record, seen, now, 'new');
      // What was changed is written before anything else happens.
      const written = { ...once.record, sequence: once.record.sequence + (once.changed ? 1 : 0) };
      const twice = present(written, seen, now, 'newer');
      changes += once.changed ? 1 : 0;
      expect(canonical(twice.record)).toBe(canonical(written));
      expect([twice.changed, twice.now]).toEqual([false, once.now]);
    });
    expect(changes).toBeGreaterThan(draws / 10);
  });

  test('count and pace the same when they are compacted, then and later', { timeout: 120_000 }, () => {
    drawn((one, _, random) => {
      const { record, now } = read(one);
      const compacted = compact({ record, now, limits });
      expect(usedAt(compacted, now)).toEqual(usedAt(record, now));
      expect(compacted.completeSince).toBeGreaterThanOrEqual(record.completeSince);
      expect(canonical(compact({ record: compacted, now, limits }))).toBe(canonical(compacted));
      const later = now + random.between(0, 1.2 * day);
      for (const [at, used] of usedAt(compacted, later).entries())
        expect(used).toBeGreaterThanOrEqual(usedAt(record, later)[at] ?? 0);
      for (const asker of askersIn(record)) {
        for (const reason of reasons) {
          const until = (from: LedgerRecord) =>
            Math.max(now, ...holdsOf({ record: from, limits }, asker, reason).map((hold) => hold.until));
          expect(until(compacted)).toBe(until(record));
        }
      }
    });
  });

  test('allow what they allowed, and deny it until the instant that they named', { timeout: 120_000 }, () => {
    let denials = 0;
    drawn((one, _, random) => {
      const { record, now } = read(one);
      const lapseAt = Math.min(
        now + 3 * day,
        ...record.spent.filter((each) => isOpen(each, now)).map(({ until = 0 }) => until),
      );
      for (const asker of askersIn(record)) {
        for (const reason of reasons) {
          const first = asked(record, now, asker, reason);
          const later = Math.floor(random.between(now, lapseAt - 1));
          const { record: then, changed } = present(record, undefined, later, 'new');
          expect(changed).toBe(false);
          const again = asked(then, later, asker, reason);
          if (first.kind === 'deny' && first.denial.cause !== 'full') {
            denials += 1;
            const { retryAt } = first.denial;
            if (later < retryAt) expect(again).toEqual(first);
            const back = asked(present(record, undefined, retryAt, 'new').record, retryAt, asker, reason);
            if (retryAt < lapseAt) expect(back.kind).not.toBe('deny');
          } else if (first.kind === 'reserve') expect(again.kind).toBe('reserve');
        }
      }
    });
    expect(denials).toBeGreaterThan(0);
  });

  test('count no token for longer than one of unknown outcome', () => {
    for (const { record } of kept)
      for (const one of record.spent)
        for (const term of terms) expect(leavesAt(one, term)).toBeLessThanOrEqual(one.at + term.pendingMs);
  });
});

/** Everybody who may have to wait: for each token with each secret that was refused, and with none. */
function askersIn({ states, spent, refusals }: LedgerRecord): Asker[] {
  const names = new Set([...Object.keys(states), ...spent.map(({ name }) => name)]);
  return [...names].flatMap((name) => {
    const secrets = ['', ...Object.keys({ ...refusals, ...states[name]?.refusals })];
    return secrets.map((secretId): Asker => ({ name, keyId: '', secretId }));
  });
}
