import { expect, test } from 'vitest';
import { marginOf, newRecord, reasonOf, stateOf, tokenOf, tokensInUse, withState } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { issuedAt, recordWith, tokenWith } from './support/records.ts';

test('a new record knows all tokens that are issued from now on, and no others', () => {
  const record = newRecord('record', noon);
  expect(record).toMatchObject({ completeSince: noon, sequence: 0, spent: [], tokens: [] });
});

test('a name that an object has anyway is one that nobody wrote, and can be written', () => {
  const record = newRecord('record', noon);
  for (const name of ['constructor', '__proto__']) {
    expect(stateOf(record, name)).toEqual({});
    expect(stateOf(withState(record, name, { resetUpTo: 5 }), name)).toEqual({ resetUpTo: 5 });
  }
  expect(Object.prototype).not.toHaveProperty('resetUpTo');
});

test('a token is in use until it expires or is reset', () => {
  const tokens = [tokenWith(), tokenWith({ name: 'invoices' }), tokenWith({ name: 'stock', expiresAt: noon + hour })];
  const record = recordWith([], { tokens, states: { invoices: { resetUpTo: noon } } });
  expect(tokensInUse(record, noon + hour).map(({ name }) => name)).toEqual(['orders']);
  expect(tokensInUse(record, noon + hour - 1).map(({ name }) => name)).toEqual(['orders', 'stock']);
  expect(['orders', 'invoices', 'stock'].map((name) => tokenOf(record, name, 'key')?.name)).toEqual([
    'orders',
    undefined,
    'stock',
  ]);
});

test('a token is served until a minute before its end, or a tenth of its life', () => {
  expect([day, minute].map(marginOf)).toEqual([minute, 6 * second]);
});

test('of a sum of requests people see that somebody needed a token', () => {
  expect(
    [issuedAt(noon, { reason: 'rejected' }), issuedAt(noon, { reason: 'several', tokens: 2 })].map(reasonOf),
  ).toEqual(['rejected', 'cold']);
});
