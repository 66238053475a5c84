import { describe, expect, test } from 'vitest';
import type { AccessToken, ServiceAuthOptions } from '../src/index.ts';
import { decodeRecord, encodeRecord } from '../src/ledger/codec.ts';
import type { LedgerRecord, StoredToken } from '../src/ledger/record.ts';
import { type Bed, createBed } from './support/bed.ts';
import { answersAfter } from './support/faulty-store.ts';
import { createGate } from './support/gate.ts';
import { settled } from './support/manual-clock.ts';

// An attacker who can write to the store can move sealed tokens in it. The checksum of a record does not prevent other records.

/** A client with a token in its record, and what it takes to write another record. */
interface Party {
  readonly bed: Bed;
  readonly options: Partial<ServiceAuthOptions>;
  readonly token: AccessToken;
}

async function createParty(options: Partial<ServiceAuthOptions>, bed = createBed()): Promise<Party> {
  const whole = { storeKey: 'k'.repeat(32), ...options };
  return { bed, options: whole, token: await bed.token(bed.client(whole)) };
}

async function recordOf({ bed }: Party): Promise<LedgerRecord> {
  const record = decodeRecord((await bed.store.text()) ?? '');
  if (typeof record === 'string') throw new Error(record);
  return record;
}

async function storedToken(party: Party): Promise<StoredToken> {
  const found = (await recordOf(party)).tokens.find(({ id }) => id === party.token.id);
  if (!found) throw new Error('It is not in the record.');
  return found;
}

/** The result of a new process if the stored token is another one. The record is restored afterwards. */
async function tokenInPlaceOf(party: Party, planted: StoredToken): Promise<AccessToken> {
  const { bed, options, token } = party;
  const record = await recordOf(party);
  const tokens = record.tokens.map((stored) => {
    const { name, keyId } = stored;
    return stored.id === token.id ? { ...planted, name, keyId } : stored;
  });
  expect(tokens).not.toEqual(record.tokens);
  await bed.store.replace(encodeRecord({ ...record, tokens }));
  const got = await bed.token(bed.client(options));
  await settled();
  await bed.store.replace(encodeRecord(record));
  return got;
}

describe('a sealed token that was moved in the store', () => {
  const others: Readonly<Record<string, Partial<ServiceAuthOptions>>> = {
    'another audience': { audience: 'invoices' },
    'another client': { clientId: 'client-2' },
    'another token endpoint': { authUrl: 'https://other.example.com' },
    'another path of the token endpoint': { authUrl: 'https://auth.example.com/tenant' },
    'another port of the token endpoint': { authUrl: 'https://auth.example.com:8443' },
  };

  test.for(Object.entries(others))('to %s is not served there, nor the other way round', async ([, options]) => {
    // Two audiences of one client share a record.
    const first = await createParty({});
    const second = await createParty(options, 'audience' in options ? first.bed : createBed());
    const values = [first.token.value, second.token.value];
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const) {
      const [moved, present] = [await storedToken(from), await storedToken(to)];
      // Alone, and with all that is stored beside it.
      for (const planted of [{ ...present, sealed: moved.sealed }, moved]) {
        expect(values).not.toContain((await tokenInPlaceOf(to, planted)).value);
      }
    }
  });

  test.for([
    ['id', 'another-id-1'],
    ['generation', 1],
    ['lifetimeMs', 1],
  ] as const)('under another %s is not used', async ([name, by]) => {
    const party = await createParty({});
    const stored = await storedToken(party);
    const value = typeof by === 'string' ? by : stored[name as 'generation'] + by;
    expect((await tokenInPlaceOf(party, { ...stored, [name]: value })).value).not.toBe(party.token.value);
  });

  // The control: the record can be written like this, and is believed if nothing in it was moved.
  test('back to its own place is used', async () => {
    const party = await createParty({});
    const stored = await storedToken(party);
    const planted = { ...stored, expiresAt: stored.expiresAt - 1 };
    expect((await tokenInPlaceOf(party, planted)).value).toBe(party.token.value);
  });
});

test('a token that arrives from the store after its reset() in this process is not kept', async () => {
  const bed = createBed();
  const compromised = await bed.token(bed.client());
  const auth = bed.client();
  const gate = createGate();
  bed.store.next('load', answersAfter(gate.opened));
  const arriving = auth.getToken();
  await settled();
  await bed.clock.until(auth.reset());
  gate.open();
  expect((await bed.clock.until(arriving)).id).not.toBe(compromised.id);
});

test.each([
  ['Uint8Array', new Uint8Array(32)],
  ['Buffer', Buffer.alloc(32)],
])('the bytes of a storeKey that is a %s may be overwritten once they were given', async (_, bytes) => {
  const bed = createBed();
  const storeKey = bytes.fill(7);
  const auth = bed.client({ storeKey });
  storeKey.fill(0);
  const token = await bed.token(auth);
  const other = bed.client({ storeKey: new Uint8Array(32).fill(7) });
  expect((await bed.token(other)).id).toBe(token.id);
});
