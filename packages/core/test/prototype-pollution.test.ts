import { afterEach, describe, expect, test } from 'vitest';
import { createServiceAuth, createServiceAuthFromEnv, fetchTransport, memoryStore } from '../src/index.ts';
import { createBed, failure } from './support/bed.ts';
import { secretCanary, tokenCanary } from './support/canaries.ts';

const polluted = new Set<string>();

function pollute(properties: object): void {
  for (const [name, value] of Object.entries(properties)) {
    polluted.add(name);
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
  }
}

afterEach(() => {
  for (const name of polluted) Reflect.deleteProperty(Object.prototype, name);
  polluted.clear();
});

describe('a prototype that somebody polluted', () => {
  const poison = {
    authUrl: 'https://evil.example',
    baseUrl: 'https://evil.example',
    clientSecret: 'evil',
    transport: () => expect.fail('a transport from the prototype'),
    store: memoryStore(),
    allowInsecureHttp: true,
    timeoutMs: 1,
    storeKey: 'evil'.repeat(20),
    tokens: 1_000_000,
    reserve: 0,
    windowMs: 1_000,
    audience: 'evil',
    client_id: 'evil',
    access_token: 'evil',
    expires_in: 1,
    error: 'evil',
    record: 'evil',
    version: 'evil',
    expected: 'evil',
    cached: { id: 'evil', generation: 1 },
    lease: { id: 'evil', until: 8e15, generation: 1 },
    token: { id: 'evil', generation: 9, expiresAt: 8e15, lifetimeMs: 1, sealed: 'evil' },
    refused: { retryAt: 8e15 },
    credentialsBackoff: { retryAt: 8e15 },
    failures: { retryAt: 8e15 },
    status: 200,
    reason: 'evil',
    code: 'ECONNREFUSED',
    syscall: 'connect',
    errors: [{ syscall: 'connect' }],
    cause: { code: 'ECONNREFUSED', syscall: 'connect' },
    'retry-after': '1',
    'content-type': 'text/plain',
  };

  test('before the client is created changes nothing that is sent, stored or accepted', async () => {
    const { client, endpoint, token, store, eventsOf } = createBed();
    pollute(poison);
    const auth = client();
    const first = await token(auth);
    expect(first.value).toBe(`${tokenCanary}.1`);
    const [request] = endpoint.requests;
    expect(request?.url).toBe('https://auth.example.com/oauth/token');
    expect(request?.body).toBe(
      `{"audience":"orders","grant_type":"client_credentials","client_id":"client-1","client_secret":"${secretCanary}"}`,
    );
    expect(await auth.getUsage()).toMatchObject({ limit: 150, usable: 120, used: 1, windowMs: 86_400_000 });
    expect([auth.covers('https://evil.example/'), auth.covers('https://api.example.com/')]).toEqual([false, true]);
    expect((await token(client())).value).toBe(first.value);
    expect(await store.text()).not.toContain('evil');
    expect(eventsOf('token_issued')[0]?.warnings).toEqual([]);
  });

  test('gives no option to createServiceAuthFromEnv and to fetchTransport', async () => {
    const { clock, store } = createBed();
    pollute({ issuanceLimit: { tokens: 1_000_000 }, fetch: () => expect.fail('a fetch from the prototype') });
    const transport = fetchTransport();
    const env = {
      SERVICE_AUTH_URL: 'http://127.0.0.1:1',
      SERVICE_AUTH_AUDIENCE: 'orders',
      SERVICE_AUTH_CLIENT_ID: 'client-1',
      SERVICE_AUTH_CLIENT_SECRET: secretCanary,
    };
    const auth = createServiceAuthFromEnv(env, { clock, store, transport });
    await failure('ERR_TOKEN_ENDPOINT', () => auth.getToken());
    expect(await auth.getUsage()).toMatchObject({ limit: 150, used: 0 });
  });

  test('after the client was created changes nothing either', async () => {
    const { client, endpoint, token, clock } = createBed();
    const auth = client();
    await token(auth);
    pollute(poison);
    await clock.advance(25 * 3_600_000);
    expect((await token(auth)).value).toBe(`${tokenCanary}.2`);
    expect(endpoint.requests[1]?.body).toContain(`"client_secret":"${secretCanary}"`);
  });

  test('does not make options of what is missing', async () => {
    pollute(poison);
    const { problems } = await failure('ERR_CONFIG', () => createServiceAuth({} as never));
    expect(problems.map(({ option }) => option)).toEqual(['authUrl', 'audience', 'clientId', 'clientSecret']);
  });

  test('does not make a failure that may have issued a token one that did not', async () => {
    const { client, endpoint, clock } = createBed();
    pollute(poison);
    endpoint.next(() => Promise.reject(new Error('reset')));
    const auth = client();
    await expect(clock.until(auth.getToken())).rejects.toThrow();
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
  });
});
