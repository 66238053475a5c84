import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../src/ledger/codec.ts';
import { confirms, type Decision, decide, type Query, withReset } from '../../src/ledger/decide.ts';
import type { Limits } from '../../src/ledger/limits.ts';
import { withCompromise } from '../../src/ledger/orders.ts';
import { type LedgerRecord, resetUpTo } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { issued, issuedAt, openAt, queryFor, recordWith, several, tokenWith, tried, usual } from './support/records.ts';

const decision = (record: LedgerRecord, fields: Partial<Query> = {}, now = noon, limits: Limits = usual) =>
  decide({ record, now, limits }, queryFor(fields));
const token = tokenWith({ generation: noon - hour, expiresAt: noon + hour });
const withToken = recordWith([issuedAt(noon - hour, { id: 'token' })], { tokens: [token] });

function reservation(record: LedgerRecord, fields: Partial<Query> = {}): Extract<Decision, { kind: 'reserve' }> {
  const found = decision(record, fields);
  if (found.kind !== 'reserve') throw new Error(found.kind);
  return found;
}

describe('a token of the record', () => {
  test('is used until its margin, unless it is unusable, reset, or the one to be renewed', () => {
    expect(decision(withToken)).toEqual({ kind: 'use', token });
    expect(decision(withToken, {}, token.expiresAt - minute - 1).kind).toBe('use');
    expect(decision(withToken, {}, token.expiresAt - minute).kind).toBe('reserve');
    expect(decision(withToken, { unusable: ['token'] }).kind).toBe('reserve');
    expect(decision(withToken, { reason: 'refresh', cached: token }).kind).toBe('reserve');
    expect(decision(withReset(withToken, 'orders', token.generation)).kind).toBe('reserve');
    expect(decision(withToken, { resetUpTo: token.generation }).kind).toBe('reserve');
    expect(decision(withToken, { keyId: 'other key' }).kind).toBe('reserve');
  });

  test('replaces an older one in the memory of the process', () => {
    const older = { id: 'older', generation: token.generation - 1 };
    const newer = { id: 'newer', generation: token.generation + 1 };
    expect(decision(withToken, { reason: 'revalidate', cached: older })).toEqual({ kind: 'use', token });
    // Another process has renewed it already, so a renewal would waste a token.
    expect(decision(withToken, { reason: 'refresh', cached: older })).toEqual({ kind: 'use', token });
    expect(decision(withToken, { reason: 'revalidate', cached: token })).toEqual({ kind: 'use', token });
    expect(decision(withToken, { reason: 'revalidate', cached: newer })).toEqual({ kind: 'keep', retryAt: noon });
    expect(decision(withToken, { reason: 'expired', cached: newer })).toEqual({ kind: 'use', token });
    expect(confirms({ kind: 'use', token }, older)).toBe(false);
    expect(confirms({ kind: 'use', token }, token)).toBe(true);
    expect(confirms({ kind: 'drop' }, older)).toBe(false);
    expect(confirms({ kind: 'wait', until: noon }, older)).toBe(true);
  });

  test('that the process has is dropped if it was reset, or is older than any token can be', () => {
    const reset = withReset(withToken, 'orders', token.generation);
    expect(decision(reset, { reason: 'revalidate', cached: token }).kind).toBe('drop');
    const old = { id: 'old', generation: noon - 32 * day };
    expect(decision(recordWith([]), { reason: 'refresh', cached: old }).kind).toBe('drop');
  });
});

describe('a request', () => {
  const { record, reserved } = reservation(recordWith([]));

  test('is reserved by the decision, and may be sent when the store has confirmed it', () => {
    expect(reserved).toEqual(openAt(noon, { id: 'asked', generation: noon + 1 }));
    expect(record).toMatchObject({ generation: noon + 1, spent: [reserved] });
    // The answer of the store got lost, but it wrote the record.
    expect(decision(record)).toEqual({ kind: 'reserve', record, reserved });
  });

  test('is waited for by the others, but those who have a token keep that', () => {
    expect(decision(record, { id: 'other' })).toEqual({ kind: 'wait', until: noon + 40 * second });
    const cached = { id: 'mine', generation: noon };
    expect(decision(record, { id: 'other', reason: 'refresh', cached })).toEqual({
      kind: 'keep',
      retryAt: noon + 40 * second,
    });
    expect(decision(record, { id: 'other', reason: 'rejected', cached }).kind).toBe('wait');
    expect(decision(record, { id: 'other', name: 'invoices' }).kind).toBe('reserve');
    expect(decision(record, { id: 'other', keyId: 'other key' }).kind).toBe('reserve');
  });

  test('that came too late is not sent, and counts nothing', () => {
    const late = decision(record, {}, noon + 40 * second);
    expect(late).toMatchObject({ kind: 'late', record: { spent: [] } });
  });

  test('has a later generation than everything, whatever the clock says', () => {
    const ahead = recordWith([issuedAt(noon, { generation: noon + hour })]);
    expect(reservation(ahead).reserved.generation).toBe(noon + hour + 1);
    expect(reservation(ahead, { resetUpTo: noon + 3 * hour }).reserved.generation).toBe(noon + 3 * hour + 1);
    const reset = recordWith([], { states: { orders: { resetUpTo: noon + 2 * hour } } });
    expect(reservation(reset).reserved.generation).toBe(noon + 2 * hour + 1);
  });

  test('is one too many when an eighth of the usable tokens is under way', () => {
    const open = several(15, (index) => openAt(noon - second + index, { name: `${index}` }));
    expect(decision(recordWith(open))).toEqual({ kind: 'wait', until: noon + 39 * second });
    expect(decision(recordWith(open.slice(1))).kind).toBe('reserve');
  });

  test('for a token whose reset it precedes is not waited for', () => {
    const reset = withReset(record, 'orders', noon + 1);
    expect(decision(reset, { id: 'other' })).toMatchObject({ kind: 'reserve', reserved: { reason: 'reset' } });
  });
});

describe('a token that nobody may request', () => {
  const full = recordWith(several(110, (index) => issuedAt(noon - hour + index, { name: 'invoices' })));

  test('is denied, with the instant from which it may be requested', () => {
    const { settledMs } = { settledMs: 25 * hour + 10 * minute };
    expect(decision(full)).toMatchObject({
      kind: 'deny',
      denial: { cause: 'limit', reason: 'cold', retryAt: noon - hour + settledMs },
    });
  });

  test('is denied to who has another one, too, unless that has expired', () => {
    const cached = { id: 'mine', generation: noon };
    expect(decision(full, { reason: 'refresh', cached })).toMatchObject({ kind: 'keep', denial: { cause: 'limit' } });
    expect(decision(full, { reason: 'rejected', cached })).toMatchObject({ kind: 'keep', denial: { cause: 'limit' } });
    expect(decision(full, { reason: 'expired', cached }).kind).toBe('deny');
    expect(decision(full, { reason: 'rejected' }).kind).toBe('deny');
  });

  test('may be requested from those that are kept for a reset, once', () => {
    const before = { ...full, spent: [...withToken.spent, ...full.spent], tokens: [token] };
    expect(decision(before, { unusable: ['token'] })).toMatchObject({ kind: 'deny', denial: { cause: 'limit' } });
    const record = withReset(before, 'orders', noon);
    const { record: replaced, now, reserved } = tried(record, noon, {}, issued);
    expect(reserved.reason).toBe('reset');
    const next = { id: 'next', unusable: ['asked'] };
    expect(decision(replaced, next, now)).toMatchObject({ kind: 'deny', denial: { reason: 'cold' } });
    // Its row shows that it was replaced, even if another one took the place of that token.
    expect(decision({ ...replaced, tokens: [] }, next, now)).toMatchObject({
      kind: 'deny',
      denial: { reason: 'cold' },
    });
  });
});

describe('a record that is full', () => {
  const limits = { ...usual, maxBytes: encodeRecord(withToken).length + 2_000 };

  test('has no room for the token of another name', () => {
    expect(decision(withToken, { name: 'invoices' }, noon, limits)).toEqual({
      kind: 'deny',
      denial: { cause: 'full', retryAt: noon + hour, reason: 'cold', count: 0 },
    });
  });

  test('has room for one that replaces another one, or that was reset', () => {
    expect(decision(withToken, { unusable: ['token'] }, noon, limits).kind).toBe('reserve');
    const reset = withReset(withToken, 'invoices', noon - hour);
    expect(decision(reset, { name: 'invoices' }, noon, limits).kind).toBe('reserve');
  });
});

describe('a process that reset a token', () => {
  test('ends it again in a record that does not know of it, because the store went back', () => {
    expect(resetUpTo(reservation(withToken, { resetUpTo: noon }).record, 'orders')).toBe(noon);
  });

  test('longer ago than a token can live has nothing to end', () => {
    const later = noon + 31 * day;
    const found = decision(withToken, { resetUpTo: noon }, later);
    expect(found).toMatchObject({ kind: 'reserve', reserved: { reason: 'cold' } });
    expect(found.kind === 'reserve' && resetUpTo(found.record, 'orders')).toBe(0);
  });

  test('leaves the hash of the token, by which an answer is recognised that repeats it', () => {
    const reset = (record: LedgerRecord, upTo: number) => withReset(record, 'orders', upTo).states['orders'];
    const other = tokenWith({ keyId: 'other key', generation: noon - 2 * hour, hash: 'another hash' });
    const both = { ...withToken, tokens: [other, token] };
    expect(reset(both, noon)).toEqual({ resetUpTo: noon, resetHash: 'hash' });
    expect(reset({ ...both, tokens: [{ ...token, hash: undefined }] }, noon)).toEqual({ resetUpTo: noon });
    // The token that came after the reset is not the one that was reset.
    expect(reset(both, noon - 2 * hour)).toEqual({ resetUpTo: noon - 2 * hour, resetHash: 'another hash' });
    const once = withCompromise(withToken, noon, { id: 'reset', name: 'orders', keyId: 'key', instance: 'process' });
    expect(withReset(once, 'orders', noon - 1)).toBe(once);
  });
});
