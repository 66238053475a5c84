import { describe, expect, test } from 'vitest';
import { confirms, type Decision, decide, denialOf, marginOf, type Query } from '../../src/ledger/decide.ts';
import { revoke } from '../../src/ledger/generations.ts';
import type { LedgerRecord } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  audienceWith,
  entriesAt,
  entryAt,
  failuresWith,
  queryFor,
  recordWith,
  tokenAt,
  usualLimits,
  usualTerm,
} from '../support/records.ts';

const decideAt = (now: number, record: LedgerRecord, query: Partial<Query> = {}): Decision =>
  decide(record, now, queryFor(query), usualLimits);
const decideOn = (record: LedgerRecord, query: Partial<Query> = {}): Decision => decideAt(noon, record, query);

const issued = noon - hour;
const current = tokenAt(issued + 5, noon + hour);
const withCurrent = recordWith({ audiences: [audienceWith({ token: current })] });
const cachedCurrent = { id: current.id, generation: issued + 5 };

/** The record that the decision wants to swap in. */
function reserved(decision: Decision): LedgerRecord {
  if (decision.kind !== 'write') expect.fail(`expected a reservation, not ${decision.kind}`);
  return decision.record;
}

describe('marginOf', () => {
  test('is a minute, or a tenth of a life shorter than ten', () => {
    expect([day, 10 * minute, 30 * second].map(marginOf)).toEqual([minute, minute, 3 * second]);
  });
});

describe('a token in the record', () => {
  test('is used while its margin of life is left', () => {
    const expired = { ...current, expiresAt: noon + minute };
    const record = recordWith({ audiences: [audienceWith({ token: expired })] });
    expect(decideAt(noon - 1, record)).toEqual({ kind: 'use', token: expired });
    expect(decideOn(record).kind).toBe('write');
  });

  test('is used instead of the one in memory when it is newer, whatever the reason for asking', () => {
    for (const reason of ['refresh', 'rejected', 'expired'] as const) {
      const decision = decideOn(withCurrent, {
        reason,
        cached: { id: 'older', generation: issued + 4 },
        unusable: ['older'],
      });
      expect(decision).toEqual({ kind: 'use', token: current });
    }
  });

  test('is used although this machine takes it for expired: the clock of the store counts', () => {
    expect(decideOn(withCurrent, { reason: 'expired', cached: cachedCurrent })).toEqual({
      kind: 'use',
      token: current,
    });
  });

  test('is used instead of an expired one of a later reservation, because it may come from processes with another key', () => {
    const cached = { id: 'newer', generation: issued + 6 };
    expect(decideOn(withCurrent, { reason: 'expired', cached, unusable: ['newer'] }).kind).toBe('use');
  });

  test('is not used when it is older than the one in memory', () => {
    const cached = { id: 'newer', generation: issued + 6 };
    expect(decideOn(withCurrent, { reason: 'revalidate', cached })).toEqual({
      kind: 'keep',
      retryAt: noon,
    });
    expect(decideOn(withCurrent, { reason: 'refresh', cached }).kind).toBe('write');
  });

  test('is not used when the asking process may not use it', () => {
    expect(decideOn(withCurrent, { unusable: [current.id] }).kind).toBe('write');
  });

  test('of another audience or key is no concern', () => {
    expect(decideOn(withCurrent, { audience: 'invoices' }).kind).toBe('write');
    expect(decideOn(withCurrent, { keyId: 'other key' }).kind).toBe('write');
  });
});

describe('a revalidation', () => {
  const revalidation = { reason: 'revalidate' } as const;

  test('finds the cached token', () => {
    expect(decideOn(withCurrent, { ...revalidation, cached: cachedCurrent })).toEqual({ kind: 'use', token: current });
  });

  test('drops a cached token that is older than any token can be: the machine slept', () => {
    const kept = (generation: number) =>
      decideOn(recordWith(), { reason: 'revalidate', cached: { id: 'old', generation } }).kind;
    expect([kept(noon - 31 * day + 1), kept(noon - 31 * day)]).toEqual(['keep', 'drop']);
  });

  test('keeps the cached token when the record has none', () => {
    const decision = decideOn(recordWith(), { ...revalidation, cached: cachedCurrent });
    expect(decision).toEqual({ kind: 'keep', retryAt: noon });
  });

  test('drops what was reset, under whichever key', () => {
    const record = recordWith({ audiences: [audienceWith({ revoked: issued + 5 })] });
    expect(decideOn(record, { ...revalidation, cached: cachedCurrent })).toEqual({ kind: 'drop' });
    expect(decideOn(record, { ...revalidation, cached: cachedCurrent, keyId: 'new key' })).toEqual({ kind: 'drop' });
  });
});

describe('a decision', () => {
  const reserved = { kind: 'write', record: recordWith({}) } as const;
  const kept = { kind: 'keep', retryAt: noon } as const;

  test('confirms the cached token, unless the fleet reset or replaced it', () => {
    const use = { kind: 'use', token: current } as const;
    const confirmed = [use, reserved, kept].map((decision) => confirms(decision, cachedCurrent));
    expect(confirmed).toEqual([true, true, true]);
    expect(confirms(use, { id: 'other', generation: issued + 4 })).toBe(false);
    expect(confirms(use, undefined)).toBe(false);
    expect(confirms({ kind: 'drop' }, cachedCurrent)).toBe(false);
  });
});

describe('a token that was reset', () => {
  const reset = audienceWith({ revoked: issued + 5 });

  test.each(['refresh', 'rejected', 'expired'] as const)(
    'is dropped before anything is credentialsBackoff, when the reason is %s',
    (reason) => {
      const spent = recordWith({ audiences: [reset], entries: entriesAt(noon, 120) });
      expect(decideOn(spent, { reason, cached: cachedCurrent })).toEqual({ kind: 'drop' });
      const leased = recordWith({
        audiences: [{ ...reset, lease: { id: 'other', generation: issued + 6, until: noon + minute } }],
      });
      expect(decideOn(leased, { reason, cached: cachedCurrent })).toEqual({ kind: 'drop' });
    },
  );

  test('by this process, and forgotten by the store, is reset once more before anything else', () => {
    const record = recordWith({
      audiences: [audienceWith({ token: tokenAt(5, noon + hour) }), audienceWith({ audience: 'invoices' })],
    });
    const resetUpTo = noon - 31 * day + 1;
    for (const reason of ['cold', 'revalidate'] as const) {
      expect(reserved(decideOn(record, { resetUpTo, reason }))).toEqual(revoke(record, 'orders', 'key', resetUpTo));
    }
    const again = decideOn(revoke(record, 'orders', 'key', resetUpTo), { resetUpTo, reason: 'revalidate' });
    expect(again).toEqual({ kind: 'keep', retryAt: noon });
    expect(decideOn(record, { resetUpTo: resetUpTo - 1 }).kind).toBe('use');
  });

  test('is replaced from the slots that only a reset may use', () => {
    const record = recordWith({ audiences: [reset], entries: entriesAt(noon, 115) });
    expect(reserved(decideOn(record)).entries.at(-1)).toMatchObject({ reason: 'reset' });
    const expired = { token: tokenAt(issued + 6, noon) };
    expect(decideOn({ ...record, audiences: [{ ...reset, ...expired }] })).toMatchObject({
      kind: 'deny',
      reason: 'cold',
    });
    // The processes of each key need a token.
    const elsewhere = audienceWith({ keyId: 'other key', ...expired });
    expect(reserved(decideOn({ ...record, audiences: [reset, elsewhere] })).entries.at(-1)).toMatchObject({
      reason: 'reset',
    });
  });

  test('leaves the slots for resets alone once it was replaced, under whichever key, and also if the record had no space for the token', () => {
    const replacement = entryAt(noon - minute, { reason: 'reset' });
    const spent = recordWith({ audiences: [reset], entries: [...entriesAt(noon, 115), replacement] });
    expect(decideOn(spent)).toMatchObject({ kind: 'deny', reason: 'cold' });
    expect(decideOn(spent, { keyId: 'other key' })).toMatchObject({ kind: 'deny', reason: 'cold' });
    for (const other of [{ at: issued + 25 }, { at: noon + minute }, { pending: true }, { audience: 'invoices' }]) {
      const entries = [...entriesAt(noon, 115), { ...replacement, ...other }];
      expect(reserved(decideOn({ ...spent, entries })).entries.at(-1)).toMatchObject({ reason: 'reset' });
    }
  });

  test('is not used, whatever is stored beside the reset', () => {
    const lease = { id: 'asked', generation: issued + 5, until: noon + minute };
    const entries = [entryAt(noon - second, { id: 'asked', pending: true })];
    const under = (keyId: string) => audienceWith({ keyId, token: current, lease });
    for (const audiences of [
      [{ ...under('key'), revoked: issued + 5 }],
      [under('key'), audienceWith({ keyId: 'other key', revoked: issued + 5 })],
    ]) {
      expect(decideOn(recordWith({ audiences, entries })).kind).toBe('write');
    }
  });
});

describe('a reservation', () => {
  test('charges a slot and takes the lease', () => {
    const record = reserved(decideOn(recordWith(), { instance: 'b', leaseMs: 30 * second }));
    const entry = { id: 'asked', at: noon, pending: true, reason: 'cold', instance: 'b', audience: 'orders' };
    expect(record.entries).toEqual([entry]);
    expect(record.audiences).toEqual([
      audienceWith({ lease: { id: 'asked', generation: noon + 1, until: noon + 30 * second } }),
    ]);
  });

  test('is admitted when the record has it with the lease, and not when another has taken the lease over', () => {
    const record = reserved(decideOn(recordWith({ entries: [entryAt(noon - minute)] })));
    const admitted = { kind: 'admitted', entry: record.entries[1], generation: noon + 1, probesFirst: false };
    expect(decideOn(record)).toEqual(admitted);
    const takenOver = {
      ...record,
      audiences: [audienceWith({ lease: { id: 'other', generation: noon + 2, until: noon + minute } })],
    };
    expect(decideOn(takenOver)).toEqual({ kind: 'wait', until: noon + minute });
  });

  test('that spares the budget is allowed earlier, and sent only after a probe', () => {
    const failures = failuresWith({ count: 9, retryAt: noon + hour, probeAt: noon, ambiguous: true });
    const record = reserved(decideOn(recordWith({ failures })));
    expect(decideOn(record)).toMatchObject({ kind: 'admitted', probesFirst: true });
    const later = { ...record, failures: { ...failures, retryAt: noon } };
    expect(decideOn(later)).toMatchObject({ kind: 'admitted', probesFirst: false });
    const tooEarly = recordWith({ failures: { ...failures, probeAt: noon + 1 } });
    expect(decideOn(tooEarly)).toMatchObject({ kind: 'deny', denial: { cause: 'backoff', retryAt: noon + 1 } });
  });

  test('that lost its lease is made again, in place of the first', () => {
    const first = entryAt(noon - minute, { id: 'asked', pending: true });
    const { entries } = reserved(decideOn(recordWith({ entries: [first] })));
    expect(entries).toEqual([{ ...first, at: noon }]);
  });

  test('leaves other slots alone', () => {
    const other = audienceWith({ audience: 'invoices', token: tokenAt(issued + 3, noon + hour) });
    expect(reserved(decideOn(recordWith({ audiences: [other] }))).audiences).toContainEqual(other);
  });
});

describe('the lease of another process', () => {
  const leased = (until: number) =>
    recordWith({
      audiences: [audienceWith({ token: current, lease: { id: 'other', generation: issued + 9, until } })],
    });

  test('is waited for by those without a token', () => {
    const record = leased(noon + minute);
    for (const reason of ['cold', 'expired', 'rejected'] as const) {
      const decision = decideOn(record, { reason, unusable: [current.id], cached: cachedCurrent });
      expect(decision).toEqual({ kind: 'wait', until: noon + minute });
    }
  });

  test('is not waited for by those who can go on', () => {
    const decision = decideOn(leased(noon + minute), { reason: 'refresh', cached: cachedCurrent });
    expect(decision).toEqual({ kind: 'keep', retryAt: noon + minute });
  });

  test('is taken over when it has run out', () => {
    const record = reserved(decideOn(leased(noon), { unusable: [current.id] }));
    expect(record.audiences[0]?.lease?.id).toBe('asked');
  });

  test('of each of 512 audiences means a wait until the first of them ends', () => {
    const busy = Array.from({ length: 512 }, (_, index) =>
      audienceWith({
        audience: `other-${index}`,
        lease: { id: `${index}`, generation: issued + 9, until: noon + minute + index },
      }),
    );
    // The store has room for all their tokens.
    const limits = { ...usualLimits, maxBytes: 4_000_000 };
    const decideAmong = (audiences: typeof busy, now = noon) =>
      decide(recordWith({ audiences }), now, queryFor(), limits);
    expect(decideAmong(busy)).toEqual({ kind: 'wait', until: noon + minute });
    expect(decideAmong(busy.slice(1)).kind).toBe('write');
    expect(decideAmong(busy, noon + minute).kind).toBe('write');
  });
});

describe('denials', () => {
  const denial = (fields: Partial<LedgerRecord>, query: Partial<Query> = {}) => {
    const decision = decideOn(recordWith(fields), query);
    return 'denial' in decision ? { kind: decision.kind, ...decision.denial } : decision.kind;
  };
  const later = noon + minute;
  const failures = failuresWith({ count: 1, retryAt: later, ambiguous: true });
  const credentialsBackoff = { secretId: 'secret', count: 1, retryAt: later, status: 401 };

  test('the budget is spent', () => {
    expect(denial({ entries: entriesAt(noon, 110) })).toMatchObject({
      kind: 'deny',
      cause: 'limit',
      retryAt: noon + usualTerm.settledMs,
      room: { term: usualTerm, used: 110, own: true },
    });
    expect(denial({ entries: entriesAt(noon, 109) })).toBe('write');
  });

  test('the token endpoint failed, until the pause is over', () => {
    expect(denial({ failures })).toEqual({ kind: 'deny', cause: 'backoff', retryAt: later });
    expect(denial({ failures: { ...failures, retryAt: noon } })).toBe('write');
  });

  test('the token endpoint failed for another audience: this one may ask', () => {
    expect(denial({ failures: { ...failures, audience: 'invoices' } })).toBe('write');
    const shared = { ...failures, audience: 'invoices', shared: true };
    expect(denial({ failures: shared })).toEqual({ kind: 'deny', cause: 'backoff', retryAt: later });
    const told = { ...failures, audience: 'invoices', retryAt: later + hour, toldUntil: later };
    expect(denial({ failures: told })).toEqual({ kind: 'deny', cause: 'backoff', retryAt: later });
  });

  test('the token endpoint failed for several audiences: the one that failed last leaves the next request to others', () => {
    const shared = { ...failures, failedAt: noon, shared: true };
    const audiences = [audienceWith({ audience: 'invoices' })];
    const retryAt = (fields: Partial<LedgerRecord['failures']>) =>
      denial({ audiences, failures: { ...shared, ...fields } });
    expect(retryAt({})).toMatchObject({ retryAt: later + 30 * second });
    expect(retryAt({ retryAt: noon + second })).toMatchObject({ retryAt: noon + 1.5 * second });
    expect(retryAt({ retryAt: noon + 40 * minute })).toMatchObject({ retryAt: noon + 50 * minute });
    expect(retryAt({ retryAt: noon + 2 * hour })).toMatchObject({ retryAt: noon + 2.25 * hour });
    expect(retryAt({ ambiguous: false })).toMatchObject({ retryAt: later });
    expect(denial({ failures: shared })).toMatchObject({ retryAt: later });
  });

  test('the token endpoint failed for several audiences: one at a time tries whether it answers again, and the others wait for that', () => {
    const lease = { id: 'tries', generation: noon, until: noon + minute };
    const audiences = [audienceWith({ audience: 'invoices', lease })];
    const over = { ...failures, failedAt: noon - hour, retryAt: noon - hour + minute, shared: true };
    const decision = (fields: Partial<LedgerRecord['failures']>, query: Partial<Query> = {}) =>
      decideOn(recordWith({ audiences, failures: { ...over, ...fields } }), query);
    expect(decision({})).toEqual({ kind: 'wait', until: noon + minute });
    const cached = { id: 'cached', generation: noon - 1 };
    expect(decision({}, { cached, reason: 'refresh' })).toMatchObject({ kind: 'keep', retryAt: noon + minute });
    expect(decision({ shared: false, audience: 'invoices' }).kind).toBe('write');
    expect(decideOn(recordWith({ audiences })).kind).toBe('write');
    // Another audience had a token since, and those that failed go on one at a time.
    const lost = { pending: true, audience: 'orders', at: noon - 2 * hour };
    const entries = [
      entryAt(noon - 2 * hour, lost),
      entryAt(noon, { pending: true, audience: 'invoices', id: 'tries' }),
    ];
    const alone = { ...over, shared: false, audience: 'invoices' };
    expect(decideOn(recordWith({ audiences, entries, failures: alone }))).toEqual({
      kind: 'wait',
      until: noon + minute,
    });
    expect(decideAt(noon + minute, recordWith({ audiences, failures: over })).kind).toBe('write');
  });

  test('the address or the audience is wrong: no other secret helps', () => {
    const audiences = [audienceWith({ credentialsBackoff: { ...credentialsBackoff, status: 404 } })];
    for (const secretId of ['secret', 'new secret'])
      expect(denial({ audiences }, { secretId })).toEqual({ kind: 'deny', cause: 'misconfigured', retryAt: later });
  });

  test('the token endpoint answered 429', () => {
    const rateLimit = { count: 1, retryAt: later };
    expect(denial({ rateLimit, failures })).toEqual({ kind: 'deny', cause: 'rate_limited', retryAt: later });
    expect(denial({ rateLimit: { count: 1, retryAt: noon } })).toBe('write');
  });

  test('of several denials the one that ends last is named', () => {
    const rateLimit = { count: 1, retryAt: later + minute };
    const credentials = { audiences: [audienceWith({ credentialsBackoff })] };
    expect(denial({ rateLimit, failures, ...credentials })).toMatchObject({
      cause: 'rate_limited',
      retryAt: later + minute,
    });
    expect(denial({ ...credentials, entries: entriesAt(noon, 110) })).toMatchObject({ cause: 'limit' });
  });

  test('the credentials were rejected: these, not others', () => {
    const audiences = [audienceWith({ credentialsBackoff })];
    expect(denial({ audiences })).toEqual({ kind: 'deny', cause: 'credentials', retryAt: later });
    expect(denial({ audiences }, { secretId: 'new secret' })).toBe('write');
  });

  test('an early renewal failed: no other early renewal so soon, but everything else is allowed', () => {
    const audiences = [audienceWith({ renewAfter: later })];
    const query = { reason: 'refresh', cached: cachedCurrent } as const;
    expect(denial({ audiences }, query)).toEqual({ kind: 'keep', cause: 'renewal', retryAt: later });
    expect(denial({ audiences }, { ...query, reason: 'expired' })).toBe('write');
  });

  test('a token that cannot be opened is replaced, but not again for a quarter of an hour', () => {
    const record = reserved(decideOn(recordWith(), { unreadable: true }));
    expect(record.audiences[0]?.unreadableUntil).toBe(noon + 15 * minute);
    const again = { audiences: [audienceWith({ unreadableUntil: noon + 15 * minute })] };
    expect(denial(again, { unreadable: true })).toEqual({
      kind: 'deny',
      cause: 'unreadable',
      retryAt: noon + 15 * minute,
    });
    expect(denial(again)).toBe('write');
  });

  test('those who can go on are told when to ask again, the others are denied', () => {
    for (const reason of ['refresh', 'rejected'] as const) {
      expect(denial({ failures }, { reason, cached: cachedCurrent })).toMatchObject({ kind: 'keep', retryAt: later });
    }
    for (const reason of ['cold', 'expired'] as const) {
      expect(denial({ failures }, { reason, cached: cachedCurrent })).toMatchObject({ kind: 'deny' });
    }
  });

  test('renewals ahead of expiry are denied long before a cold start', () => {
    const entries = entriesAt(noon, 84);
    expect(denial({ entries }, { reason: 'refresh', cached: cachedCurrent })).toMatchObject({
      kind: 'keep',
      cause: 'limit',
    });
    expect(denial({ entries })).toBe('write');
  });
});

describe('renewals caused by 401s', () => {
  /** When the renewals of an API that rejects everything are allowed, each at the first moment it is. */
  function renewals(until: number): number[] {
    const allowed: number[] = [];
    let record = recordWith();
    for (let now = noon; now < until; ) {
      const query = queryFor({
        reason: 'rejected',
        cached: cachedCurrent,
        unusable: [current.id],
        id: `${allowed.length}`,
      });
      const decision = decide(record, now, query, usualLimits);
      if (decision.kind === 'write') {
        allowed.push(now);
        const entries = decision.record.entries.filter(({ at }) => at + usualTerm.settledMs > now);
        record = { ...decision.record, entries: entries.map((entry) => ({ ...entry, pending: false })), audiences: [] };
      } else if (decision.kind === 'keep') now = decision.retryAt;
      else expect.fail(`unexpected: ${decision.kind}`);
    }
    return allowed;
  }

  test('are spaced 1, 2, 4 … 60 minutes apart, and 20 per window', () => {
    const allowed = renewals(noon + 2 * day);
    const gaps = allowed.slice(1).map((at, index) => (at - (allowed[index] ?? 0)) / minute);
    expect(gaps.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(Math.max(...allowed.map((from) => allowed.filter((at) => at >= from && at < from + day).length))).toBe(20);
  });

  test('are spaced for their audience, while other renewals are not', () => {
    const record = recordWith({ entries: [entryAt(noon, { reason: 'rejected' })] });
    const query = { cached: cachedCurrent, unusable: [current.id] };
    expect(decideOn(record, { ...query, reason: 'rejected' })).toMatchObject({ denial: { cause: 'rejections' } });
    expect(decideOn(record, { ...query, reason: 'rejected', audience: 'invoices' }).kind).toBe('write');
    expect(decideOn(record, { ...query, reason: 'expired' }).kind).toBe('write');
  });

  test('do not use entries of other reasons as their own', () => {
    const entries = [...entriesAt(noon - 20 * hour, 19, { reason: 'rejected' }), entryAt(noon)];
    expect(decideOn(recordWith({ entries }), { reason: 'rejected', cached: cachedCurrent }).kind).toBe('write');
  });
});

describe('denialOf', () => {
  test('is nothing where no process has declared an agreement yet', () => {
    const noTerms = { ...usualLimits, terms: [] };
    expect(denialOf(recordWith({ terms: [] }), noon, queryFor(), 'cold', noTerms)).toBeUndefined();
  });
});
