import { describe, expect, test } from 'vitest';
import { slotOf, withSlot } from '../../src/ledger/record.ts';
import { noon, recordWith, slotWith, tokenAt } from '../support/records.ts';

describe('a slot', () => {
  const slot = slotWith({ token: tokenAt(7, noon), revoked: 6 });
  const older = slotWith({ keyId: 'older key', revoked: 5 });
  const elsewhere = slotWith({ audience: 'invoices', revoked: 90 });
  const record = recordWith({ slots: [slot, older, elsewhere] });

  test('is found by its audience and key', () => {
    expect(slotOf(record, 'orders', 'key')).toEqual(slot);
    expect(slotOf(record, 'invoices', 'key')).toEqual(elsewhere);
  });

  test('no longer has what was reset under another key of its audience', () => {
    const lease = { id: 'lease', generation: 7, until: noon };
    const found = (revoked: number) => {
      const slots = [{ ...slot, lease }, slotWith({ keyId: 'new key', revoked })];
      return slotOf(recordWith({ slots }), 'orders', 'key');
    };
    expect(found(6)).toEqual({ ...slot, lease });
    expect(found(7)).toEqual({ ...slot, revoked: 7, token: undefined, lease: undefined });
  });

  test('of a new key is empty, but knows what was reset under other keys of its audience', () => {
    const empty = { ...slotWith({ keyId: 'new key' }), token: undefined, lease: undefined, refused: undefined };
    expect(slotOf(record, 'orders', 'new key')).toEqual({ ...empty, revoked: 6 });
    expect(slotOf(recordWith(), 'orders', 'new key')).toEqual(empty);
  });

  test('is replaced, and no other one', () => {
    const next = { ...slot, revoked: 8 };
    expect(withSlot(record, next).slots).toEqual([older, elsewhere, next]);
  });
});
