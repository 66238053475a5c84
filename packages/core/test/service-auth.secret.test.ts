import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../src/ledger/codec.ts';
import type { StoredToken } from '../src/ledger/record.ts';
import { clientSecretPost } from '../src/oauth2/index.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';
import { settled } from './support/manual-clock.ts';
import { answering } from './support/scripted-endpoint.ts';

const sentSecrets = (requests: readonly { body: string }[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).client_secret);

describe('clientSecret as a function', () => {
  test('is asked again for every token request, and for nothing else', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    let asked = 0;
    const auth = client({ clientSecret: async () => `${secretCanary} ${++asked}` });
    await token(auth);
    await use(auth, hour);
    await auth.getUsage();
    expect(asked).toBe(1);
    await clock.advance(2 * day);
    await token(auth);
    expect(sentSecrets(endpoint.requests)).toEqual([`${secretCanary} 1`, `${secretCanary} 2`]);
    await auth.reset();
    expect(asked).toBe(2);
  });

  test.each([
    ['rejects', () => Promise.reject(new Error(`vault said ${secretCanary}`)), '(Error)'],
    [
      'throws',
      () => {
        throw secretCanary;
      },
      '(unknown error)',
    ],
    ['returns nothing', () => undefined as never, 'not empty'],
    ['returns an empty text', () => '', 'not empty'],
    ['returns white space around it', () => `${secretCanary}\n`, 'trim it'],
    ['returns no text', async () => ({ secret: secretCanary }) as never, 'must be a string'],
  ])('that %s is an error that says so and when to try again, and nothing is sent', async (_, clientSecret, why) => {
    const { client, clock, endpoint, store } = createBed();
    const error = await failure('ERR_CLIENT_SECRET', client({ clientSecret }).getToken());
    expect(error.retryAt).toBe(clock.now() + second);
    expect(error.message).toContain(why);
    expect(error.message).not.toContain(secretCanary);
    expect([endpoint.requests.length, store.calls.swap]).toEqual([0, 0]);
  });

  test('that does not answer is given up like a token request, and asked anew by the next caller', async () => {
    const { client, clock, endpoint, token } = createBed();
    let silent = true;
    const auth = client({ clientSecret: () => (silent ? new Promise(() => {}) : secretCanary), timeoutMs: 5_000 });
    const attempt = failure('ERR_CLIENT_SECRET', auth.getToken());
    await clock.advance(5 * second);
    expect((await attempt).message).toContain('does not come within 5000 ms');
    silent = false;
    await token(auth);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([1, 0]);
  });

  test('that goes on failing is called twice a second at most, however many callers there are', async () => {
    const { client, clock, token } = createBed();
    let vaultIsDown = true;
    let asked = 0;
    const clientSecret = async () => {
      asked += 1;
      if (vaultIsDown) throw new Error('down');
      return secretCanary;
    };
    const auth = client({ clientSecret });
    await failure('ERR_CLIENT_SECRET', auth.getToken());
    const second_ = await failure('ERR_CLIENT_SECRET', auth.getToken());
    for (let call = 0; call < 10; call++) {
      expect(await failure('ERR_CLIENT_SECRET', auth.getToken())).toMatchObject({ retryAt: second_.retryAt });
    }
    expect(asked).toBe(2);
    await clock.advance(second);
    for (let call = 0; call < 10; call++) await failure('ERR_CLIENT_SECRET', auth.getToken());
    expect(asked).toBe(4);
    vaultIsDown = false;
    await clock.advance(second);
    await token(auth);
    expect(asked).toBe(5);
    vaultIsDown = true;
    await auth.reset();
    for (let call = 0; call < 10; call++) await failure('ERR_CLIENT_SECRET', auth.getToken());
    expect(asked).toBe(7);
  });

  test('that works lets a client authentication that goes on failing rest nevertheless', async () => {
    const { client, clock, store } = createBed();
    let written = 0;
    const clientAuthentication = {
      ...clientSecretPost(),
      write() {
        written += 1;
        throw new Error('no key');
      },
    };
    const auth = client({ clientSecret: () => secretCanary, clientAuthentication });
    for (let call = 0; call < 10; call++) await failure('ERR_CLIENT_SECRET', auth.getToken());
    // Each try is a reservation that is withdrawn.
    expect([written, store.calls.swap]).toEqual([2, 4]);
    await clock.advance(second);
    for (let call = 0; call < 10; call++) await failure('ERR_CLIENT_SECRET', auth.getToken());
    expect(written).toBe(4);
  });

  test('that fails is an event, also in the background: one a minute, with the number of failures', async () => {
    const { client, clock, eventsOf, token } = createBed();
    let vaultIsDown = false;
    const refuse = () => Promise.reject(Object.assign(new Error(secretCanary), { code: 'EACCES' }));
    const auth = client({ clientSecret: () => (vaultIsDown ? refuse() : secretCanary) });
    const first = await token(auth);
    vaultIsDown = true;
    await clock.advance(0.95 * day);
    for (let call = 0; call < 13; call++) {
      expect(await auth.getToken()).toBe(first);
      await clock.advance(5 * second);
    }
    expect(eventsOf('client_secret_failed')).toMatchObject([
      { error: 'Error EACCES', count: 1 },
      { error: 'Error EACCES', count: 12 },
    ]);
    expect(eventsOf('token_unavailable')).toEqual([]);
  });

  test('that fails while a token is cached fails no call', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    let vaultIsDown = false;
    const clientSecret = () => (vaultIsDown ? Promise.reject(new Error('down')) : secretCanary);
    const auth = client({ clientSecret });
    const first = await token(auth);
    vaultIsDown = true;
    await clock.advance(0.9 * day);
    expect(await use(auth, hour, minute)).toEqual([first]);
    await auth.reset();
    vaultIsDown = false;
    expect((await token(auth)).value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('credentials that were rejected', () => {
  test('are not sent again before 5 minutes, by anybody', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(answering(401, '{"error":"invalid_client"}'));
    const error = await failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    expect(error).toMatchObject({
      endpointStatus: 401,
      oauthError: 'invalid_client',
      retryAt: clock.now() + 5 * minute,
    });
    await clock.advance(4 * minute);
    const other = await failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    expect(other).toMatchObject({ endpointStatus: 401, oauthError: 'invalid_client', retryAt: clock.now() + minute });
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(minute);
    const next = await failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    expect(next.retryAt).toBe(clock.now() + 10 * minute);
  });

  test('are forgotten at once when the secret changes', async () => {
    const { client, endpoint, token } = createBed();
    endpoint.next(answering(403, '{"error":"access_denied"}'));
    let secret = `${secretCanary} old`;
    const auth = client({ clientSecret: () => secret });
    await failure('ERR_CREDENTIALS_REJECTED', auth.getToken());
    secret = `${secretCanary} new`;
    await token(auth);
    expect(sentSecrets(endpoint.requests)).toEqual([`${secretCanary} old`, `${secretCanary} new`]);
    expect(await auth.getUsage()).toMatchObject({ used: 1 });
  });

  test('of another audience are not those of a client whose secret cannot be had', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(answering(403, '{"error":"access_denied"}'));
    await failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    await clock.advance(hour);
    await failure('ERR_CREDENTIALS_REJECTED', client({ audience: 'other' }).getToken());
    const sealed = client({
      clientSecret: () => {
        throw new Error('the vault is sealed');
      },
    });
    expect((await sealed.getUsage()).refusedUntil).toBeUndefined();
    expect((await client({ audience: 'other' }).getUsage()).refusedBecause).toBe('credentials');
  });

  test.each([
    [401, '{"error":"invalid_client"}'],
    [403, '{"error":"access_denied"}'],
  ])('under one store key wait as long for each of several wrong secrets (%i)', async (status, answer) => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(answering(status, answer));
    const secrets = ['one', 'two', 'three'];
    const fleet = secrets.map((clientSecret) => client({ clientSecret, storeKey: 'k'.repeat(32) }));
    for (let asked = 0; asked < 6 * 60; asked++) {
      for (const auth of fleet) await failure('ERR_CREDENTIALS_REJECTED', clock.until(auth.getToken()));
      await clock.advance(minute);
    }
    const sent = sentSecrets(endpoint.requests);
    // Every 15 minutes, and once more after 5.
    for (const secret of secrets) expect(sent.filter((one) => one === secret)).toHaveLength((6 * 60) / 15 + 1);
  });

  test('are forgotten at once when the secret changes under one store key, too', async () => {
    const { client, endpoint, token } = createBed();
    endpoint.next(answering(400, '{"error":"invalid_scope"}'));
    const storeKey = 'k'.repeat(32);
    await failure('ERR_CREDENTIALS_REJECTED', client({ storeKey, clientSecret: 'wrong' }).getToken());
    await token(client({ storeKey }));
    await failure(
      'ERR_CREDENTIALS_REJECTED',
      client({ storeKey, clientSecret: 'wrong', audience: 'orders' }).getToken(),
    ).catch(() => undefined);
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('rolling a secret through a fleet', () => {
  test('costs at most one more token, and old and new do not fight', async () => {
    const { client, endpoint, token, use } = createBed();
    const [oldOne, oldTwo] = [client(), client()];
    const first = await token(oldOne);
    await token(oldTwo);
    const [newOne, newTwo] = [client({ clientSecret: 'new' }), client({ clientSecret: 'new' })];
    const second_ = await token(newOne);
    expect((await token(newTwo)).value).toBe(second_.value);
    for (let round = 0; round < 10; round++) {
      expect((await use(oldOne, minute)).map(({ value }) => value)).toEqual([first.value]);
      expect((await use(newTwo, minute)).map(({ value }) => value)).toEqual([second_.value]);
      expect((await use(oldTwo, minute)).map(({ value }) => value)).toEqual([first.value]);
    }
    expect(endpoint.requests.length).toBe(2);
  });

  test('by a function costs at most one more token, whenever each process notices', async () => {
    const { client, clock, endpoint, token, use } = createBed();
    let secret = `${secretCanary} old`;
    const fleet = Array.from({ length: 6 }, () => client({ clientSecret: () => secret }));
    for (const auth of fleet) await token(auth);
    secret = `${secretCanary} new`;
    await clock.advance(0.9 * day);
    for (const auth of fleet) await use(auth, minute);
    const tokens = await Promise.all(fleet.map((auth) => token(auth)));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect(sentSecrets(endpoint.requests)).toEqual([`${secretCanary} old`, `${secretCanary} new`]);
  });

  test('a reset reaches tokens of the old secret as well', async () => {
    const { client, token, use } = createBed();
    const old = client();
    const first = await token(old);
    const young = client({ clientSecret: 'new' });
    await token(young);
    await young.reset();
    expect((await use(old, 30 * second)).at(-1)?.value).not.toBe(first.value);
  });

  test('a store key of its own lets old and new share one token', async () => {
    const { client, endpoint, token } = createBed();
    const storeKey = crypto.getRandomValues(new Uint8Array(32));
    const first = await token(client({ storeKey }));
    expect((await token(client({ storeKey, clientSecret: 'new' }))).value).toBe(first.value);
    expect(endpoint.requests.length).toBe(1);
  });

  test('another store key opens nothing: a slot of its own, at the cost of one token', async () => {
    const { client, endpoint, token } = createBed();
    const first = await token(client({ storeKey: 'a'.repeat(32) }));
    expect((await token(client({ storeKey: 'b'.repeat(32) }))).value).not.toBe(first.value);
    expect((await token(client({ storeKey: 'a'.repeat(32) }))).value).toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('a token at rest', () => {
  test.each([
    ['its lifetime', (token: StoredToken) => ({ ...token, lifetimeMs: token.lifetimeMs + minute })],
    ['its generation', (token: StoredToken) => ({ ...token, generation: token.generation - 1 })],
  ])('is bound to %s: with another it is not opened', async (_, altered) => {
    const { client, store, endpoint, token } = createBed();
    const first = await token(client());
    const record = decodeRecord((await store.text()) ?? '');
    if (typeof record === 'string') expect.fail(record);
    await store.replace(encodeRecord({ ...record, tokens: record.tokens.map(altered) }));
    expect((await token(client())).value).not.toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });

  test('that was tampered with is absent: it is replaced each time', async () => {
    const { client, store, endpoint, token } = createBed();
    const tamper = async () => {
      const record = decodeRecord((await store.text()) ?? '');
      if (typeof record === 'string') expect.fail(record);
      const tokens = record.tokens.map((stored) => ({ ...stored, sealed: `AAAA${stored.sealed}` }));
      await store.replace(encodeRecord({ ...record, tokens }));
    };
    const auth = client();
    const values = [(await token(auth)).value];
    for (let times = 0; times < 2; times += 1) {
      await tamper();
      values.push((await token(client())).value);
    }
    expect(new Set(values).size).toBe(3);
    expect(endpoint.requests.length).toBe(3);
    expect((await auth.getToken()).value).toBe(values[0]);
    await settled();
  });
});
