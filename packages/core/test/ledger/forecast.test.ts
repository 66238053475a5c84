import { describe, expect, test } from 'vitest';
import { isOpen } from '../../src/ledger/attempt.ts';
import { fitted, hasRoom } from '../../src/ledger/bound.ts';
import { compact } from '../../src/ledger/compact.ts';
import { decide } from '../../src/ledger/decide.ts';
import { availableFor, refusalOf } from '../../src/ledger/forecast.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { limitsFor } from '../../src/ledger/limits.ts';
import { settle } from '../../src/ledger/settle.ts';
import { revokedOf } from '../../src/ledger/tokens.ts';
import { day, minute, second } from '../support/instants.ts';
import { attemptAt, issued, queryFor, recordWith, usual } from './support/attempts.ts';
import { historyOf, noon } from './support/history.ts';
import { seed, used } from './support/records.ts';

const small = limitsFor([{ tokens: 60, windowMs: day }], undefined, 'durable');
const snapshots = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((round) =>
  historyOf(seed + round, { steps: 120 }).filter((_, index) => index % 9 === 0),
);
/** An audience whose token was reset may spend more, and one that is asked for waits for the answer. */
const isPlain = ({ record, now }: (typeof snapshots)[number]) =>
  revokedOf(record, caller.audience) === 0 &&
  !record.attempts.some((attempt) => attempt.audience === caller.audience && isOpen(attempt, now));
const caller = { audience: 'audience-1', keyId: 'key', secretId: 'secret' };
const everyToken = (record: LedgerRecord) => record.tokens.map(({ id }) => id);

describe('at any state', () => {
  test('as many callers as are said get a token each, and the next one does not', () => {
    let some = 0;
    for (const { record, now } of snapshots.filter(isPlain)) {
      const said = availableFor('cold', record, now, caller, small);
      let [at, present, served] = [now, record, 0];
      for (; ; served++) {
        const query = queryFor({ ...caller, id: `${served}`, unusable: everyToken(present) });
        const first = decide(present, at, query, small);
        if (first.kind !== 'write') break;
        const admitted = decide(first.record, at, query, small);
        if (admitted.kind !== 'admitted') break;
        present = settle(first.record, at, admitted.attempt, issued(admitted.attempt, at));
      }
      // The first token may end what holds up the next one, so more may get one than was said.
      if (said === 0) expect(served).toBe(0);
      else expect(served).toBeGreaterThanOrEqual(said);
      if (said > 1) expect(served).toBe(said);
      some += said > 0 ? 1 : 0;
    }
    expect(some).toBeGreaterThan(20);
    expect(some).toBeLessThan(snapshots.filter(isPlain).length - 20);
  });

  test('a caller that is refused gets a token at the instant that is said, and not before', () => {
    let refused = 0;
    for (const { record, now } of snapshots.filter(isPlain)) {
      const refusal = refusalOf(record, now, caller, small);
      const query = queryFor({ ...caller, unusable: everyToken(record) });
      const kindAt = (at: number) => decide(compact(record, at, small), at, query, small).kind;
      if (!refusal) {
        expect(['write', 'wait']).toContain(kindAt(now));
        continue;
      }
      refused += 1;
      expect(['deny', 'wait']).toContain(kindAt(refusal.until - 1));
      expect(['write', 'wait']).toContain(kindAt(refusal.until));
    }
    expect(refused).toBeGreaterThan(20);
  });
});

describe('a record that the store must keep', () => {
  const sealed = 's'.repeat(1_500);
  const tokens = Array.from({ length: 40 }, (_, index) => {
    const name = `audience-${index}`;
    return {
      audience: name,
      keyId: 'key',
      id: `${index}`,
      generation: noon - index,
      expiresAt: noon + (index - 5) * minute,
      aheadMs: 0,
      lifetimeMs: day,
      sealed,
    };
  });
  const attempts = tokens.map(({ audience, id, generation }) => {
    return attemptAt(generation, {
      id,
      audience,
      outcome: { kind: 'issued', at: generation, charge: 1 },
    });
  });
  const record = recordWith(attempts, { tokens });

  test('is never larger than the bound, and keeps everything that counts', () => {
    for (const maxBytes of [70_000, 55_000, 30_000, 10_000, 5_000]) {
      const { record: kept, text } = fitted(record, noon, { ...usual, maxBytes });
      expect(text.length).toBeLessThanOrEqual(maxBytes);
      expect(used(kept, noon, usual)).toBe(40);
    }
    const { record: without } = fitted(record, noon, { ...usual, maxBytes: 60_000 });
    expect(without.tokens.map(({ id }) => id)).toEqual(tokens.slice(6).map(({ id }) => id));
  });

  test('has room for the token of each request that is under way', () => {
    const asking = (count: number) => {
      const open = Array.from({ length: count }, (_, index) =>
        attemptAt(noon + index, { audience: `new ${index}`, until: noon + minute, outcome: undefined }),
      );
      return { ...record, attempts: [...attempts, ...open] };
    };
    const bytes = fitted(record, noon, usual).text.length;
    const fits = (count: number, maxBytes: number) => hasRoom(asking(count), noon + second, { ...usual, maxBytes });
    expect([fits(1, bytes + 9_000), fits(1, bytes - 9_000), fits(15, bytes + 9_000)]).toEqual([true, false, false]);
    const limits = { ...usual, maxBytes: bytes + 9_000 };
    expect(decide(asking(14), noon + second, queryFor({ audience: 'new' }), limits)).toMatchObject({
      kind: 'deny',
      denial: { cause: 'full', retryAt: noon + second + minute },
    });
    const denied = decide(record, noon, queryFor({ audience: 'new' }), { ...usual, maxBytes: bytes - 9_000 });
    expect(denied).toMatchObject({ kind: 'deny', denial: { cause: 'full', retryAt: noon + minute } });
    expect(
      decide(record, noon, queryFor({ audience: 'audience-1', unusable: ['1'] }), { ...usual, maxBytes: bytes - 9_000 })
        .kind,
    ).toBe('write');
  });
});
