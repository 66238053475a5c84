import { describe, expect, test } from 'vitest';
import { latestGeneration, revoke } from '../../src/ledger/generations.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import { audienceWith, recordWith, tokenAt } from '../support/records.ts';

const lease = { id: 'mine', generation: 9, until: noon + minute };

describe('generations', () => {
  test('go by the time, so that a record that went back does not give the same ones again', () => {
    expect(latestGeneration(recordWith(), 'orders', noon)).toBe(noon);
    const record = recordWith({
      audiences: [audienceWith({ token: tokenAt(noon - day, noon), revoked: noon - 2 * day, lease })],
    });
    expect(latestGeneration(record, 'orders', noon)).toBe(noon);
  });

  test.each([
    ['a token', { token: tokenAt(noon + 7, noon) }],
    ['a token that is on its way', { lease: { ...lease, generation: noon + 7 } }],
    ['what was reset', { revoked: noon + 7 }],
  ])('are later than those of %s, under whichever key, when the clock is behind', (_, fields) => {
    const audiences = [audienceWith(), audienceWith({ keyId: 'other key', ...fields })];
    expect(latestGeneration(recordWith({ audiences }), 'orders', noon)).toBe(noon + 7);
    expect(latestGeneration(recordWith({ audiences }), 'invoices', noon)).toBe(noon);
  });
});

describe('a reset', () => {
  const audiences = [
    audienceWith({ token: tokenAt(8, noon + hour), lease }),
    audienceWith({ keyId: 'other key', token: tokenAt(7, noon + hour) }),
    audienceWith({ audience: 'invoices', token: tokenAt(8, noon + hour) }),
  ];

  test('marks what the audience has, whichever key seals it, and nothing else', () => {
    const record = revoke(recordWith({ audiences }), 'orders', 'key', 12);
    for (const keyId of ['key', 'other key']) {
      const state = record.audiences.find((each) => each.keyId === keyId && each.audience === 'orders');
      expect(state).toMatchObject({ revoked: 12, token: undefined, lease: undefined });
    }
    expect(record.audiences).toContainEqual(audiences[2]);
    expect(record.audiences).toHaveLength(3);
  });

  test('leaves what is later', () => {
    const { audiences: left } = revoke(recordWith({ audiences }), 'orders', 'key', 7);
    expect(left).toContainEqual({ ...audiences[0], revoked: 7 });
    expect(left).toContainEqual({ ...audiences[1], revoked: 7, token: undefined, lease: undefined });
    expect(revoke(recordWith({ audiences }), 'orders', 'key', 8).audiences).toContainEqual({
      ...audiences[0],
      revoked: 8,
      token: undefined,
    });
  });

  test('is not taken back by an earlier one', () => {
    const once = revoke(recordWith({ audiences }), 'orders', 'key', 12);
    expect(revoke(once, 'orders', 'key', 4).audiences).toEqual(once.audiences);
  });

  test('is noted when the record has never heard of the audience', () => {
    expect(revoke(recordWith(), 'orders', 'key', 40).audiences).toMatchObject([
      { audience: 'orders', keyId: 'key', revoked: 40 },
    ]);
  });
});
