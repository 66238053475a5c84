import { describe, expect, test } from 'vitest';
import { latestGeneration, revoke } from '../../src/ledger/generations.ts';
import { day, hour, minute, noon, recordWith, slotWith, tokenAt } from '../support/records.ts';

const lease = { id: 'mine', generation: 9, until: noon + minute };

describe('generations', () => {
  test('go by the time, so that a record that went back does not give the same ones again', () => {
    expect(latestGeneration(recordWith(), 'orders', noon)).toBe(noon);
    const record = recordWith({
      slots: [slotWith({ token: tokenAt(noon - day, noon), revoked: noon - 2 * day, lease })],
    });
    expect(latestGeneration(record, 'orders', noon)).toBe(noon);
  });

  test.each([
    ['a token', { token: tokenAt(noon + 7, noon) }],
    ['a token that is on its way', { lease: { ...lease, generation: noon + 7 } }],
    ['what was reset', { revoked: noon + 7 }],
  ])('are later than those of %s, under whichever key, when the clock is behind', (_, fields) => {
    const slots = [slotWith(), slotWith({ keyId: 'other key', ...fields })];
    expect(latestGeneration(recordWith({ slots }), 'orders', noon)).toBe(noon + 7);
    expect(latestGeneration(recordWith({ slots }), 'invoices', noon)).toBe(noon);
  });
});

describe('a reset', () => {
  const slots = [
    slotWith({ token: tokenAt(8, noon + hour), lease }),
    slotWith({ keyId: 'other key', token: tokenAt(7, noon + hour) }),
    slotWith({ audience: 'invoices', token: tokenAt(8, noon + hour) }),
  ];

  test('marks what the audience has, whichever key seals it, and nothing else', () => {
    const record = revoke(recordWith({ slots }), 'orders', 'key', 12);
    for (const keyId of ['key', 'other key']) {
      const slot = record.slots.find((each) => each.keyId === keyId && each.audience === 'orders');
      expect(slot).toMatchObject({ revoked: 12, token: undefined, lease: undefined });
    }
    expect(record.slots).toContainEqual(slots[2]);
    expect(record.slots).toHaveLength(3);
  });

  test('leaves what is later', () => {
    const { slots: left } = revoke(recordWith({ slots }), 'orders', 'key', 7);
    expect(left).toContainEqual({ ...slots[0], revoked: 7 });
    expect(left).toContainEqual({ ...slots[1], revoked: 7, token: undefined, lease: undefined });
    expect(revoke(recordWith({ slots }), 'orders', 'key', 8).slots).toContainEqual({
      ...slots[0],
      revoked: 8,
      token: undefined,
    });
  });

  test('is not taken back by an earlier one', () => {
    const once = revoke(recordWith({ slots }), 'orders', 'key', 12);
    expect(revoke(once, 'orders', 'key', 4).slots).toEqual(once.slots);
  });

  test('is noted when the record has never heard of the audience', () => {
    expect(revoke(recordWith(), 'orders', 'key', 40).slots).toMatchObject([
      { audience: 'orders', keyId: 'key', revoked: 40 },
    ]);
  });
});
