import {
  createServiceAuth,
  isServiceAuthError,
  memoryStore,
  type ServiceAuthError,
  type ServiceAuthOptions,
} from '@service-auth/core';
import { logLines } from '@service-auth/test-tools/renderings';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { shiftedClock } from '../../runtimes/suite/cases.ts';
import { adapters, type Client, connectTo } from '../src/clients.ts';
import type { Peer } from '../src/peer.ts';
import { type Api, startApi } from '../src/start-api.ts';
import { type Auth0Simulator, startAuth0Simulator } from '../src/start-auth0-simulator.ts';
import { type MockServer, startOauth2MockServer } from '../src/start-oauth2-mock-server.ts';
import { startOidcProvider } from '../src/start-oidc-provider.ts';

/** A client for one test. */
async function open(adapter: string, options: ServiceAuthOptions): Promise<Client> {
  const client = await connectTo(adapter, options);
  onTestFinished(async () => void (await client.close()));
  return client;
}

/** The error of `getToken()`, and the number of counted tokens. */
async function failure(options: ServiceAuthOptions) {
  const auth = createServiceAuth({ store: memoryStore(), ...options });
  const error: unknown = await auth.getToken().then(
    () => expect.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!isServiceAuthError(error)) throw error;
  expect(JSON.stringify([error, String(error.stack)])).not.toContain(options.clientSecret);
  return { ...error, code: error.code, used: (await auth.getUsage()).used };
}

const peers: Record<string, () => Promise<Peer>> = {
  'oidc-provider, behind JSON': () => startOidcProvider(),
  'oauth2-mock-server': startOauth2MockServer,
  'auth0-simulator': async () => {
    const simulator = await startAuth0Simulator();
    simulator.trust();
    return simulator;
  },
};

describe.each(Object.entries(peers))('with %s', (_, start) => {
  let peer: Peer;
  let api: Api;
  beforeAll(async () => {
    peer = await start();
    api = await startApi(peer.jwksUri, peer.options.audience);
  });
  afterAll(() => Promise.all([peer.close(), api.close()]));

  test('fifty callers in two processes cost one request, and its token is as the server says', async () => {
    const before = peer.tokenRequests;
    const store = memoryStore();
    const processes = [1, 2].map(() => createServiceAuth({ ...peer.options, store }));
    const calls = processes.flatMap((auth) => Array.from({ length: 25 }, () => auth.getToken()));
    const tokens = await Promise.all(calls);
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect(peer.tokenRequests - before).toBe(1);
    const [token] = tokens;
    expect((token?.expiresAt ?? 0) - (token?.issuedAt ?? 0)).toBe(peer.lifetimeMs);
  });

  test('a token is renewed ahead of its expiry, and the API accepts the new one', async () => {
    const clock = shiftedClock();
    const auth = createServiceAuth({ ...peer.options, clock, store: memoryStore() });
    const first = await auth.getToken();
    // Some servers issue the same JWT twice within one second.
    const second = () => Math.floor(Date.now() / 1_000);
    const issuedIn = second();
    await expect.poll(second, { interval: 20 }).not.toBe(issuedIn);
    clock.shift(0.95 * peer.lifetimeMs);
    await auth.getToken();
    await expect.poll(async () => (await auth.getToken()).id).not.toBe(first.id);
    const { authorization } = await auth.getToken();
    expect((await fetch(api.baseUrl, { headers: { authorization } })).status).toBe(200);
  });

  test.each(Object.keys(adapters))(
    '%s sends a token that the API accepts, and another one after a 401',
    async (adapter) => {
      const before = { answers: api.answers.length, tokenRequests: peer.tokenRequests };
      const { auth, get } = await open(adapter, { ...peer.options, baseUrl: api.baseUrl });
      expect(await get(`${api.baseUrl}/api/v1/`)).toBe(200);
      const { value } = await auth.getToken();
      api.rejectNext();
      const status = await get(`${api.baseUrl}/api/v1/`);
      // Two tokens of one second are the same JWT, unless the server numbers them: a resend would fail again.
      const again = (await auth.getToken()).value === value;
      expect([status, ...api.answers.slice(before.answers)]).toEqual(again ? [401, 200, 401] : [200, 200, 401, 200]);
      expect(peer.tokenRequests - before.tokenRequests).toBe(2);
    },
  );

  test('an address with nothing at it is a wrong address, and costs nothing', async () => {
    const wrong = await failure({ ...peer.options, authUrl: `${peer.options.authUrl}/elsewhere` });
    expect(wrong).toMatchObject({ code: 'ERR_TOKEN_ENDPOINT', endpointStatus: 404, ambiguous: false, used: 0 });
  });
});

describe('what oidc-provider refuses', () => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await startOidcProvider();
  });
  afterAll(() => peer.close());

  test.each([
    ['a wrong secret', { clientSecret: 'not-the-secret' }, 401, 'invalid_client'],
    ['an unknown client', { clientId: 'nobody' }, 401, 'invalid_client'],
    ['an audience it does not know', { audience: 'https://elsewhere.example/' }, 400, 'invalid_target'],
  ])('%s, is reported with its own code, and costs nothing', async (_, options, endpointStatus, oauthError) => {
    const refused = await failure({ ...peer.options, ...options });
    expect(refused).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', endpointStatus, oauthError, used: 0 });
  });

  test.each(Object.keys(adapters))('%s passes on, and sends nothing to the API', async (adapter) => {
    const api = await startApi(peer.jwksUri, peer.options.audience);
    onTestFinished(() => api.close());
    const options = { ...peer.options, baseUrl: api.baseUrl, clientSecret: 'canary-not-the-secret' };
    const { get } = await open(adapter, options);
    const error: Error = await get(`${api.baseUrl}/api/v1/`).then(
      () => expect.fail('it did not fail'),
      (reason) => reason,
    );
    // got has errors of its own, in which ours is the cause.
    const ours = isServiceAuthError(error) ? error : error.cause;
    const { code } = error as ServiceAuthError;
    expect([code, ours]).toMatchObject([
      'ERR_CREDENTIALS_REJECTED',
      { endpointStatus: 401, oauthError: 'invalid_client' },
    ]);
    expect(isServiceAuthError(ours)).toBe(true);
    expect(logLines(error).join()).not.toContain(options.clientSecret);
    expect(api.answers).toEqual([]);
  });

  test('JSON, when no case translates it', async () => {
    const strict = await startOidcProvider({ front: false });
    const refused = await failure(strict.options);
    expect(refused).toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      endpointStatus: 400,
      oauthError: 'invalid_request',
    });
    await strict.close();
  });
});

describe('what oauth2-mock-server can be made to answer', () => {
  let peer: MockServer;
  beforeAll(async () => {
    peer = await startOauth2MockServer();
  });
  afterAll(() => peer.close());

  test.each([
    ['503', { statusCode: 503 }, {}, { code: 'ERR_TOKEN_ENDPOINT', endpointStatus: 503, ambiguous: true, used: 1 }],
    ['429', { statusCode: 429 }, {}, { code: 'ERR_RATE_LIMITED', used: 0 }],
    [
      'a token of another type',
      {},
      { token_type: 'mac' },
      { code: 'ERR_TOKEN_RESPONSE', reason: 'token_type', used: 1 },
    ],
    ['no token', {}, { access_token: undefined }, { code: 'ERR_TOKEN_RESPONSE', reason: 'access_token', used: 1 }],
    ['an expired one', {}, { expires_in: 0 }, { code: 'ERR_TOKEN_RESPONSE', reason: 'expires_in', used: 1 }],
  ])('%s', async (_, response, body, expected) => {
    peer.next((answer) => {
      Object.assign(answer, response);
      Object.assign(answer.body ?? {}, body);
    });
    expect(await failure(peer.options)).toMatchObject(expected);
  });

  test('a lifetime in words of digits, and a type in small letters: both are understood', async () => {
    peer.next((answer) => Object.assign(answer.body ?? {}, { expires_in: '1800', token_type: 'bearer' }));
    const { issuedAt, expiresAt } = await createServiceAuth({ ...peer.options, store: memoryStore() }).getToken();
    expect(expiresAt - issuedAt).toBe(1_800_000);
  });
});

describe('a certificate that is not trusted', () => {
  let peer: Auth0Simulator;
  beforeAll(async () => {
    peer = await startAuth0Simulator();
  });
  afterAll(() => peer.close());

  test('costs nothing: no request was sent', async () => {
    const refused = await failure(peer.options);
    expect(refused).toMatchObject({ code: 'ERR_TOKEN_ENDPOINT', ambiguous: false, used: 0 });
    expect(peer.tokenRequests).toBe(0);
  });
});
