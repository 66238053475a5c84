import { describe, expect, test } from 'vitest';
import { roomsIn, tightest } from '../../src/ledger/count.ts';
import {
  isJustOrdered,
  type Reset,
  retryRoomAt,
  statedIn,
  withCompromise,
  withRetry,
  withStated,
} from '../../src/ledger/orders.ts';
import { type LedgerRecord, newRecord, resetUpTo } from '../../src/ledger/record.ts';
import { hour, minute, noon } from '../support/instants.ts';
import {
  issued,
  issuedAt,
  recordWith,
  refusedAt,
  situationOf,
  termOf,
  tokenWith,
  tried,
  used,
  usual,
} from './support/records.ts';

const token = tokenWith({ generation: noon - hour });
const withToken = recordWith([issuedAt(noon - hour, { id: 'token' })], { tokens: [token] });

describe('a reset', () => {
  const reset = { id: 'reset', name: 'orders', keyId: 'key', instance: 'process', reason: 'found in a log' };
  const compromised = (record: LedgerRecord, fields: Partial<Reset> = {}, now = noon) =>
    withCompromise(record, now, { ...reset, ...fields });

  test('ends the token for everybody, and is listed once', () => {
    const record = compromised(withToken);
    expect(resetUpTo(record, 'orders')).toBe(noon);
    expect(record.generation).toBe(noon);
    const note = { id: 'reset', at: noon, kind: 'reset', by: 'process', name: 'orders', tokenId: 'token' };
    expect(record.log).toEqual([{ ...note, reason: 'found in a log' }]);
    expect(compromised(record).log).toEqual([{ ...note, tokenId: undefined, reason: 'found in a log' }]);
  });

  test('of a token that was replaced already leaves its replacement', () => {
    const { record: replaced, now } = tried(compromised(withToken), noon, {}, issued);
    const upToWith = (cached: Reset['cached']) =>
      resetUpTo(compromised(replaced, { id: 'again', cached }, now), 'orders');
    expect(upToWith({ ...token, isServed: true })).toBe(noon);
    expect(upToWith({ ...token, isServed: false })).toBeGreaterThan(noon);
    const [replacement] = replaced.tokens as [typeof token];
    expect(upToWith({ ...replacement, isServed: true })).toBeGreaterThan(noon);
  });

  test('ends the tokens that are being requested, and those that only a process knows', () => {
    const ahead = { id: 'mine', generation: noon + minute, isServed: true };
    expect(resetUpTo(compromised(withToken, { cached: ahead }), 'orders')).toBe(noon + minute);
    const requested = recordWith([issuedAt(noon, { generation: noon + hour })]);
    expect(resetUpTo(compromised(requested), 'orders')).toBe(noon + hour);
  });

  test('names the token of another key, if there is no other', () => {
    const [note] = compromised(withToken, { keyId: 'other key' }).log;
    expect(note?.tokenId).toBe('token');
  });

  test('of a name that nobody knows changes nothing', () => {
    expect(compromised(withToken, { name: 'ordres' })).toBe(withToken);
    const refusedOnly = recordWith([refusedAt(noon, { name: 'ordres' })]);
    expect(compromised(refusedOnly, { name: 'ordres' })).toBe(refusedOnly);
    // A record that nobody has written yet may follow one that was lost.
    expect(resetUpTo(compromised(newRecord('record', noon)), 'orders')).toBe(noon);
    const cached = { id: 'mine', generation: noon, isServed: true };
    expect(resetUpTo(compromised(recordWith([]), { cached }), 'orders')).toBe(noon);
  });
});

describe('orders to try again', () => {
  test('are 1, 2, 4 … minutes apart, and begin anew after an hour without one', () => {
    const first = withRetry(recordWith([]), noon, { id: 'first', by: 'somebody' });
    const next = withRetry(first, noon + minute, { id: 'second', by: 'somebody' });
    const later = withRetry(next, noon + 2 * hour, { id: 'third', by: 'somebody' });
    expect([recordWith([]), first, next, later].map(retryRoomAt)).toEqual([
      0,
      noon + minute,
      noon + 3 * minute,
      noon + 2 * hour + minute,
    ]);
  });

  test('are listed, and count once however often they are written', () => {
    const once = withRetry(recordWith([]), noon, { id: 'order', by: 'somebody' });
    expect(once.log).toEqual([{ id: 'order', at: noon, kind: 'retry', by: 'somebody' }]);
    expect(withRetry(once, noon + minute, { id: 'order', by: 'somebody' })).toBe(once);
  });

  test('keep the tokens, each of which may be renewed again', () => {
    const tokens = [tokenWith({ id: 'first', renewAfter: noon + hour }), tokenWith({ id: 'second' })];
    const { tokens: kept } = withRetry(recordWith([], { tokens }), noon, { id: 'order', by: 'somebody' });
    expect(kept).toEqual(tokens.map((token) => ({ ...token, renewAfter: undefined })));
  });

  test('are noticed by every process within a minute', () => {
    const record = withRetry(recordWith([]), noon, { id: 'order', by: 'somebody' });
    expect([minute - 1, minute].map((ms) => isJustOrdered(record, noon + ms))).toEqual([true, false]);
    expect(isJustOrdered(recordWith([]), noon)).toBe(false);
  });
});

describe('what somebody says of tokens that the record has not seen', () => {
  const said = (id: string, tokens: number) => ({ id, tokens, by: 'provider', reason: 'a count' });
  const stated = (record: LedgerRecord, now: number, tokens: number, id = 'said') =>
    withStated(situationOf(record, now), said(id, tokens));
  const { settledMs, pendingMs } = termOf(usual);

  test('counts from then on, and is listed', () => {
    const record = stated(recordWith([]), noon, 40) as LedgerRecord;
    expect([noon, noon + settledMs - 1, noon + settledMs].map((at) => used(record, at, usual))).toEqual([40, 40, 0]);
    expect(record.log).toEqual([{ id: 'said', at: noon, kind: 'spent', by: 'provider', reason: 'a count' }]);
    expect(statedIn(record, noon - 1)?.tokens).toBe(40);
    expect(statedIn(record, noon)).toBeUndefined();
  });

  test('contains what was said before: the largest number counts, from the latest instant on', () => {
    const once = stated(recordWith([]), noon, 40) as LedgerRecord;
    expect(stated(once, noon, 30)).toBeUndefined();
    const twice = stated(once, noon + hour, 50, 'again') as LedgerRecord;
    expect(used(twice, noon + hour + settledMs - 1, usual)).toBe(50);
    expect(used(twice, noon + hour + settledMs, usual)).toBe(0);
    // What was said first has left all windows.
    expect(stated(once, noon + pendingMs + 1, 30)).toBeDefined();
  });

  test('makes a new record complete, also if it is nothing', () => {
    const young = recordWith([], { completeSince: noon - hour });
    const roomOf = (record: LedgerRecord) => tightest(roomsIn(situationOf(record), 'cold')).room;
    expect(roomOf(young)).toBe(28);
    expect(roomOf(stated(young, noon, 10) as LedgerRecord)).toBe(100);
    expect(roomOf(stated(young, noon, 0) as LedgerRecord)).toBe(110);
    expect(stated(recordWith([]), noon, 0)).toBeUndefined();
    expect(stated(recordWith([]), noon, 1)?.completeSince).toBe(recordWith([]).completeSince);
  });
});
