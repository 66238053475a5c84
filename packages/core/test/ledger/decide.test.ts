import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { confirms, decide } from '../../src/ledger/decide.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { retryRoomAt, withReset, withRetry } from '../../src/ledger/orders.ts';
import { settle } from '../../src/ledger/settle.ts';
import { declare, foreignTerms, isDeclarationDue, maxTerms } from '../../src/ledger/terms.ts';
import { marginOf, revokedOf, tokenOf } from '../../src/ledger/tokens.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { ambiguous, attemptAt, issued, queryFor, recordWith, tried, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { canonical } from './support/records.ts';

const decision = (record: LedgerRecord, fields: Parameters<typeof queryFor>[0] = {}, now = noon) =>
  decide(record, now, queryFor(fields), usual);
const token = {
  audience: 'orders',
  keyId: 'key',
  id: 'token',
  generation: noon - hour,
  expiresAt: noon + hour,
  aheadMs: 0,
  lifetimeMs: day,
  sealed: 'sealed',
};
const withToken = recordWith([attemptAt(noon - hour, { id: 'token' })], { tokens: [token] });

describe('a token of the record', () => {
  test('is used until its margin, unless it is unusable, reset, or the one to be renewed', () => {
    expect(decision(withToken)).toEqual({ kind: 'use', token });
    expect([marginOf(day), marginOf(minute)]).toEqual([minute, 6 * second]);
    expect(decision(withToken, {}, token.expiresAt - minute).kind).toBe('write');
    expect(decision(withToken, { unusable: ['token'] }).kind).toBe('write');
    expect(decision(withToken, { reason: 'refresh', cached: token }).kind).toBe('write');
    expect(decision({ ...withToken, revoked: { orders: token.generation } }).kind).toBe('write');
    expect(decision(withToken, { keyId: 'other key' }).kind).toBe('write');
  });

  test('replaces an older one in the memory of the process', () => {
    const older = { id: 'older', generation: token.generation - 1 };
    const newer = { id: 'newer', generation: token.generation + 1 };
    expect(decision(withToken, { reason: 'revalidate', cached: older })).toEqual({ kind: 'use', token });
    expect(decision(withToken, { reason: 'revalidate', cached: newer }).kind).toBe('keep');
    expect(confirms({ kind: 'use', token }, older)).toBe(false);
    expect(confirms({ kind: 'use', token }, token)).toBe(true);
    expect(confirms({ kind: 'drop' }, older)).toBe(false);
  });

  test('that the process has is dropped if it was reset, or is older than any token can be', () => {
    const reset = { ...withToken, revoked: { orders: token.generation } };
    expect(decision(reset, { reason: 'revalidate', cached: token }).kind).toBe('drop');
    expect(
      decision(recordWith([]), { reason: 'refresh', cached: { id: 'old', generation: noon - 32 * day } }).kind,
    ).toBe('drop');
  });
});

describe('an attempt', () => {
  const first = decision(recordWith([]));
  if (first.kind !== 'write') throw new Error(first.kind);
  const { record } = first;

  test('is admitted when the record has it, and the others wait for it', () => {
    expect(decision(record)).toMatchObject({
      kind: 'admitted',
      attempt: { id: 'asked', at: noon, until: noon + 40 * second },
    });
    expect(decision(record, { id: 'other' })).toEqual({ kind: 'wait', until: noon + 40 * second });
    expect(decision(record, { id: 'other', reason: 'refresh', cached: { id: 'mine', generation: noon } }).kind).toBe(
      'keep',
    );
    expect(decision(record, { id: 'other', audience: 'invoices' }).kind).toBe('write');
    expect(decision(record, { id: 'other', keyId: 'other key' }).kind).toBe('write');
  });

  test('that was too slow, or whose token was reset on its way, is not sent, and costs nothing', () => {
    const late = decision(record, {}, noon + 40 * second);
    const reset = decision(
      withReset(record, noon, { id: 'reset', audience: 'orders', keyId: 'key', instance: 'process' }),
    );
    for (const lapsed of [late, reset]) {
      if (lapsed.kind !== 'lapsed') throw new Error(lapsed.kind);
      expect(lapsed.record.attempts).toMatchObject([{ id: 'asked', outcome: { kind: 'unsent', charge: 0 } }]);
      expect(compact(lapsed.record, noon + minute, usual).attempts).toEqual([]);
    }
  });

  test('has a later generation than everything, whatever the clock says', () => {
    const ahead = recordWith([attemptAt(noon, { generation: noon + hour })], {
      revoked: { invoices: noon + 2 * hour },
      folded: { other: noon + 3 * hour },
    });
    expect(decision(ahead)).toMatchObject({ record: { attempts: [{}, { generation: noon + 3 * hour + 1 }] } });
  });

  test('of 256 that are under way is waited for by all', () => {
    const limits = { ...usual, terms: [{ tokens: 9_000, windowMs: day, reserve: 0 }], maxBytes: 4_000_000 };
    const open = Array.from({ length: 256 }, (_, index) =>
      attemptAt(noon + index, { audience: `${index}`, until: noon + minute + index, outcome: undefined }),
    );
    expect(decide(recordWith(open), noon + second, queryFor(), limits)).toEqual({ kind: 'wait', until: noon + minute });
    expect(decide(recordWith(open.slice(1)), noon + second, queryFor(), limits).kind).toBe('write');
  });

  test('that the record lost is counted when its outcome comes', () => {
    const { attempt } = tried(recordWith([]), noon, {}, issued);
    const settled = settle(recordWith([]), noon + second, attempt, ambiguous());
    expect(settled.attempts).toMatchObject([{ id: 'asked', outcome: { kind: 'unknown', charge: 1 } }]);
  });

  test('that is settled twice is settled once, and a token that was reset on its way is never used', () => {
    const { attempt, record: once, now } = tried(recordWith([]), noon, {}, issued);
    expect(canonical(settle(once, now, attempt, issued(attempt, now)))).toBe(canonical(once));
    const reset = { ...record, revoked: { orders: attempt.generation } };
    const settled = settle(reset, now, attempt, issued(attempt, now));
    expect(tokenOf(settled, 'orders', 'key')).toBeUndefined();
  });

  test('that failed does not take back what arrived', () => {
    const { attempt, record: arrived, now } = tried(recordWith([]), noon, {}, issued);
    expect(settle(arrived, now, attempt, { kind: 'unsent' }).attempts[0]?.outcome?.kind).toBe('issued');
  });
});

describe('a reset', () => {
  const reset = { audience: 'orders', keyId: 'key', instance: 'process', reason: 'found in a log' };

  test('ends the token for everybody, is listed once, and is known again by who ordered it', () => {
    const record = withReset(withToken, noon, { id: 'reset', ...reset });
    expect(revokedOf(record, 'orders')).toBe(noon);
    expect(record.orders).toEqual([
      {
        id: 'reset',
        at: noon,
        kind: 'reset',
        by: 'process',
        audience: 'orders',
        tokenId: 'token',
        reason: 'found in a log',
      },
    ]);
    expect(withReset(record, noon, { id: 'reset', ...reset }).orders).toEqual(record.orders);
    expect(decision(withToken, { resetUpTo: noon })).toMatchObject({
      kind: 'write',
      record: { revoked: { orders: noon } },
    });
  });

  test('of a token that was replaced already leaves its replacement', () => {
    const record = withReset(withToken, noon, { id: 'reset', ...reset });
    const { record: replaced, now } = tried(record, noon, {}, issued);
    const cached = { id: 'token', generation: token.generation, isServed: true };
    expect(revokedOf(withReset(replaced, now, { id: 'again', ...reset, cached }), 'orders')).toBe(noon);
    expect(
      revokedOf(withReset(replaced, now, { id: 'again', ...reset, cached: { ...cached, isServed: false } }), 'orders'),
    ).toBeGreaterThan(noon);
  });

  test('of an audience that nobody knows changes nothing', () => {
    expect(withReset(withToken, noon, { id: 'reset', ...reset, audience: 'ordres' })).toBe(withToken);
  });

  test('may be followed by a token from those that are kept for it, once', () => {
    const spent = Array.from({ length: 110 }, (_, index) =>
      attemptAt(noon - hour + 1 + index, { audience: 'invoices' }),
    );
    const full = { ...withToken, attempts: [...withToken.attempts, ...spent] };
    expect(decision(full, { unusable: ['token'] })).toMatchObject({ kind: 'deny', denial: { cause: 'limit' } });
    const record = withReset(full, noon, { id: 'reset', ...reset });
    const { record: replaced, now, attempt } = tried(record, noon, {}, issued);
    expect(attempt.reason).toBe('reset');
    expect(decision({ ...replaced, tokens: [] }, { id: 'next' }, now)).toMatchObject({ kind: 'deny', reason: 'cold' });
  });
});

test('orders to try again are 1, 2, 4 minutes apart, and begin anew after an hour without one', () => {
  const first = withRetry(recordWith([]), noon, { id: 'first', by: 'somebody' });
  const next = withRetry(first, noon + minute, { id: 'second', by: 'somebody' });
  const later = withRetry(next, noon + 2 * hour, { id: 'third', by: 'somebody' });
  expect([first, next, later].map((record) => retryRoomAt(record, noon))).toEqual([
    noon + minute,
    noon + 3 * minute,
    noon + 2 * hour + minute,
  ]);
});

test('the terms of others are kept for an hour, and a process declares its own again after 20 minutes', () => {
  const record = declare(recordWith([]), noon, usual, 'process');
  const other = { ...usual, terms: [{ tokens: 10, windowMs: hour, reserve: 0 }] };
  expect(isDeclarationDue(record, noon + 20 * minute - 1, usual)).toBe(false);
  expect(isDeclarationDue(record, noon + 20 * minute, usual)).toBe(true);
  expect(foreignTerms(record, noon + hour - 1, other)).toHaveLength(1);
  expect(foreignTerms(record, noon + hour, other)).toHaveLength(0);
  let many = record;
  for (let tokens = 1; tokens < 40; tokens++)
    many = declare(many, noon + tokens, { ...usual, terms: [{ tokens, windowMs: day, reserve: 0 }] }, 'process');
  expect(many.terms).toHaveLength(maxTerms);
});
