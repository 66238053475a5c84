import { describe, expect, test } from 'vitest';
import { audienceStateOf, withAudienceState } from '../../src/ledger/record.ts';
import { noon } from '../support/instants.ts';
import { audienceWith, recordWith, tokenAt } from '../support/records.ts';

describe('a slot', () => {
  const state = audienceWith({ token: tokenAt(7, noon), revoked: 6 });
  const older = audienceWith({ keyId: 'older key', revoked: 5 });
  const elsewhere = audienceWith({ audience: 'invoices', revoked: 90 });
  const record = recordWith({ audiences: [state, older, elsewhere] });

  test('is found by its audience and key', () => {
    expect(audienceStateOf(record, 'orders', 'key')).toEqual(state);
    expect(audienceStateOf(record, 'invoices', 'key')).toEqual(elsewhere);
  });

  test('no longer has what was reset under another key of its audience', () => {
    const lease = { id: 'lease', generation: 7, until: noon };
    const found = (revoked: number) => {
      const audiences = [{ ...state, lease }, audienceWith({ keyId: 'new key', revoked })];
      return audienceStateOf(recordWith({ audiences }), 'orders', 'key');
    };
    expect(found(6)).toEqual({ ...state, lease });
    expect(found(7)).toEqual({ ...state, revoked: 7, token: undefined, lease: undefined });
  });

  test('of a new key is empty, but knows what was reset under other keys of its audience', () => {
    const empty = {
      ...audienceWith({ keyId: 'new key' }),
      token: undefined,
      lease: undefined,
      credentialsBackoff: undefined,
    };
    expect(audienceStateOf(record, 'orders', 'new key')).toEqual({ ...empty, revoked: 6 });
    expect(audienceStateOf(recordWith(), 'orders', 'new key')).toEqual(empty);
  });

  test('is replaced, and no other one', () => {
    const next = { ...state, revoked: 8 };
    expect(withAudienceState(record, next).audiences).toEqual([older, elsewhere, next]);
  });
});
