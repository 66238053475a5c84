import { expect, test } from 'vitest';
import { createServiceAuth, type Store } from '../src/index.ts';
import {
  emptyRecord,
  failuresInRow,
  incompleteRecord,
  isEmptyRecord,
  problemOfRecord,
  recordKey,
  secretInRecord,
} from '../src/record/stored-record.ts';
import { createBed, failure, minute } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';
import { answering } from './support/scripted-endpoint.ts';

const owner = { authUrl: 'https://auth.example.com', clientId: 'client' };

/** A store with one record, which tells the key for which it was asked. */
function storeWith(record: string, now: number): Store & { readonly keys: string[] } {
  const keys: string[] = [];
  return {
    keys,
    durability: 'durable',
    async load(key) {
      keys.push(key);
      return { record, version: '1', now };
    },
    swap: async () => ({ swapped: false, now }),
  };
}

function usageOf(store: Store) {
  return createServiceAuth({ ...owner, audience: 'api', clientSecret: 'secret', store }).getUsage();
}

test('the key is the one under which a client looks for its record, in every spelling of the address', async () => {
  const store = storeWith(emptyRecord(1_000), 1_000);
  await usageOf(store);
  expect(store.keys).toEqual([await recordKey(owner)]);
  expect(await recordKey({ ...owner, authUrl: new URL('http://AUTH.example.com:443/') })).toBe(store.keys[0]);
  expect(await recordKey({ ...owner, clientId: 'other' })).not.toBe(store.keys[0]);
});

test('a client accepts the empty record: nothing is spent, and it starts as carefully as a new one', async () => {
  const now = Date.now();
  const usage = await usageOf(storeWith(emptyRecord(now), now));
  expect(usage).toMatchObject({ used: 0, issuances: [], refusedUntil: undefined });
  expect(emptyRecord(now)).not.toBe(emptyRecord(now));
});

test('a record that clients refuse has a problem, and others have none', async () => {
  const record = emptyRecord(1_000);
  expect(problemOfRecord(record)).toBeUndefined();
  expect(problemOfRecord(record.slice(0, -1))).toBe('damaged');
  expect(problemOfRecord(record.replace(/\/\d+ /, '/999 '))).toBe('unknown version');
});

test('a record is empty until a client writes into it', async () => {
  const now = Date.now();
  let record = emptyRecord(now);
  expect(isEmptyRecord(record)).toBe(true);
  const store: Store = {
    durability: 'durable',
    load: async () => ({ record, version: '1', now }),
    async swap(_key, change) {
      record = change.record;
      return { swapped: true, now };
    },
  };
  await createServiceAuth({ ...owner, audience: 'api', clientSecret: 'secret', store }).reset();
  expect(isEmptyRecord(record)).toBe(false);
  expect(isEmptyRecord('nonsense')).toBe(false);
});

test('a wrong address and a missing client id are told together', async () => {
  const error = await recordKey({ authUrl: 'ftp://x', clientId: '' }).catch((caught) => caught);
  expect(error).toMatchObject({ code: 'ERR_CONFIG', problems: [{ option: 'authUrl' }, { option: 'clientId' }] });
});

test('an incomplete record keeps what it counts, and allows as little as a new one', async () => {
  const now = Date.now();
  const old = emptyRecord(now - 48 * 3_600_000);
  expect((await usageOf(storeWith(old, now))).availableNow).toBe(110);
  expect((await usageOf(storeWith(incompleteRecord(old, now), now))).availableNow).toBe(28);
  // A clock that is behind does not make it complete again.
  expect((await usageOf(storeWith(incompleteRecord(emptyRecord(now), now - 3_600_000), now))).availableNow).toBe(28);
  expect(() => incompleteRecord('nonsense', now)).toThrow('damaged');
});

test('a record remembers failures in a row until a token is issued, also when their wait is over', async () => {
  const { clock, client, endpoint, store } = createBed();
  const key = await recordKey({ authUrl: 'https://auth.example.com', clientId: 'client-1' });
  const remembered = async () => failuresInRow((await store.load(key)).record ?? '');
  const ask = async () => {
    await clock.until(client().getToken()).catch(() => {});
    await clock.advance(20 * minute);
  };
  endpoint.otherwise(answering(404));
  await ask();
  await ask();
  expect(await remembered()).toMatchObject([{ kind: 'backoff', count: 2, status: 404, audience: 'orders' }]);
  endpoint.otherwise(answering(401, '{"error":"invalid_client"}'));
  await ask();
  const failures = await remembered();
  expect(failures).toMatchObject([
    { kind: 'backoff', count: 2, status: 404, audience: 'orders' },
    { kind: 'credentials', count: 1, status: 401, audience: 'orders', tokenExpiresAt: undefined },
  ]);
  for (const { retryAt } of failures) expect(retryAt).toBeLessThan(clock.now());
  endpoint.otherwise(endpoint.issue);
  await ask();
  expect(await remembered()).toEqual([]);
  endpoint.otherwise(answering(401, '{"error":"invalid_client"}'));
  while ((await remembered()).length === 0) await ask();
  const { now, record = '' } = await store.load(key);
  const [{ tokenExpiresAt = 0 } = {}] = failuresInRow(record, now);
  expect(tokenExpiresAt).toBeGreaterThan(now);
  expect(failuresInRow(record, tokenExpiresAt)).toMatchObject([{ kind: 'credentials', tokenExpiresAt: undefined }]);
  expect(failuresInRow('nonsense')).toEqual([]);
});

test('a record shows which instance had credentials that were rejected, and which secret they were', async () => {
  const { client, clock, endpoint, store, token } = createBed();
  await token(client());
  endpoint.otherwise(answering(401, '{"error":"invalid_client"}'));
  const clientSecret = 'a secret that is wrong';
  const asked = client({ clientSecret, instance: 'replica 2' }).getToken();
  await failure('ERR_CREDENTIALS_REJECTED', clock.until(asked));
  const record = (await store.text()) as string;
  const refused = { status: 401, instance: 'replica 2', failedAt: clock.now() };
  expect(failuresInRow(record)).toMatchObject([{ kind: 'credentials', about: 'client', ...refused }]);
  expect((await client().getUsage()).holds).toMatchObject([{ kind: 'credentials', ...refused }]);
  const shown = (secret: string, storeKey?: string) => {
    const of = { clientId: 'client-1', audience: 'orders', clientSecret: secret, storeKey };
    return secretInRecord(record, of, clock.now());
  };
  expect(await shown(clientSecret)).toEqual({
    rejection: { ...refused, about: 'client' },
    opensToken: false,
    isKnown: true,
  });
  expect(await shown(secretCanary)).toEqual({ rejection: undefined, opensToken: true, isKnown: true });
  const otherKey = await shown(secretCanary, 'a store key of 32 characters ...');
  expect(otherKey).toMatchObject({ opensToken: false, isKnown: false });
  // The client was refused, whatever it asks for.
  const other = { clientId: 'client-1', audience: 'invoices', clientSecret };
  expect(await secretInRecord(record, other, clock.now())).toEqual({
    rejection: { ...refused, about: 'client' },
    opensToken: undefined,
    isKnown: true,
  });
  expect(await secretInRecord(emptyRecord(clock.now()), other, clock.now())).toMatchObject({ isKnown: undefined });
});

test('a record shows that a refusal was about the audience, and not about the client', async () => {
  const { client, clock, endpoint, store } = createBed();
  endpoint.otherwise(answering(403, '{"error":"access_denied"}'));
  await failure('ERR_CREDENTIALS_REJECTED', clock.until(client().getToken()));
  const record = (await store.text()) as string;
  expect(failuresInRow(record)).toMatchObject([{ kind: 'credentials', status: 403, about: 'request' }]);
  const owner = { clientId: 'client-1', audience: 'orders', clientSecret: secretCanary };
  expect(await secretInRecord(record, owner, clock.now())).toMatchObject({ rejection: { about: 'request' } });
});
