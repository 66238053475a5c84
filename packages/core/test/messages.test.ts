// Each message tells people what happened and what to do, and never contains a value that could be a secret.
import { describe, expect, test } from 'vitest';
import { errorPage } from '../src/contract/error-page.ts';
import { createServiceAuth, fetchTransport, memoryStore, type ServiceAuthOptions } from '../src/index.ts';
import { clientSecretPost, tlsClientAuth } from '../src/oauth2/index.ts';
import { createBed, failure, hour } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { answering, failing } from './support/scripted-endpoint.ts';

describe('an error of the token endpoint', () => {
  test.each([
    [
      answering(401, '{"error":"invalid_client"}'),
      'The token endpoint rejected the credentials (401 invalid_client). Check audience, clientId and clientSecret; a changed secret is tried at once, this one at 2026-01-01T00:05:00.000Z.',
    ],
    [
      answering(403, '{"error":["invalid_client"]}'),
      'The token endpoint rejected this request (403 other). Check audience, scope, and what the client may have; a changed secret is tried at once, this one at 2026-01-01T00:05:00.000Z.',
    ],
    [
      answering(429, '', { 'retry-after': '600' }),
      'The token endpoint answered 429. Look for programs that use this clientId without this store; the next attempt is possible at 2026-01-01T00:10:00.000Z.',
    ],
    [
      answering(403, '', { 'retry-after': '600' }),
      'The token endpoint answered 403 and said that the request may succeed later. Look for programs that use this clientId without this store; the next attempt is possible at 2026-01-01T00:10:00.000Z.',
    ],
    [
      answering(400, '{"error":"temporarily_unavailable"}'),
      'The token endpoint says that it is out of order (400 temporarily_unavailable). Nothing was counted. Ask its provider; the next attempt is possible at 2026-01-01T00:15:00.000Z.',
    ],
    [
      answering(200, '{"access_token":"a.b.c","token_type":"BearerToken"}'),
      'The token endpoint\'s answer is no usable bearer token: its token_type is "BearerToken", not Bearer. If the API accepts it as a bearer token, name this type in recognizedTokenTypes (SERVICE_AUTH_TOKEN_TYPES). A token was counted; the next attempt is possible at 2026-01-01T00:00:01.000Z.',
    ],
    [
      answering(200, '{"access_token":"a.b.c","token_type":"the token a.b.c"}'),
      "The token endpoint's answer is no usable bearer token: its token_type is not Bearer. If the API accepts it as a bearer token, name this type in recognizedTokenTypes (SERVICE_AUTH_TOKEN_TYPES). A token was counted; the next attempt is possible at 2026-01-01T00:00:01.000Z.",
    ],
    [
      failing('ECONNREFUSED'),
      'The token endpoint could not be reached or did not answer (Error ECONNREFUSED). Nothing was counted. Check authUrl and the endpoint; the next attempt is possible at 2026-01-01T00:00:01.000Z.',
    ],
    [
      () => new Promise<never>(() => {}),
      'The token endpoint did not answer in time (timeoutMs is 30000). A token may have been issued, so one was counted. Check authUrl and the endpoint; the next attempt is possible at 2026-01-01T00:00:31.000Z.',
    ],
    [
      answering(503),
      'The token endpoint answered 503. A token may have been issued, so one was counted. Check authUrl and the endpoint; the next attempt is possible at 2026-01-01T00:00:01.000Z.',
    ],
    [
      answering(200, '{}'),
      "The token endpoint's answer is no usable bearer token (access_token): check the endpoint. A token was counted; the next attempt is possible at 2026-01-01T00:00:01.000Z.",
    ],
  ])('number %# says what it answered, what was counted and when to go on', async (answer, message) => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(answer);
    await expect(clock.until(client().getToken())).rejects.toThrow(`[service-auth] ${message}`);
  });
});

describe('an error in front of any server', () => {
  const tokenEndpoint = 'https://auth.example.com/token';
  const here = { tokenEndpoint, authUrl: undefined };
  const isJson =
    ' The request was JSON. Most servers want a form: give a clientAuthentication (SERVICE_AUTH_CLIENT_AUTHENTICATION).';

  test.each<[string, Partial<ServiceAuthOptions>, Parameters<typeof answering>, string]>([
    [
      'names the option that has the address',
      { ...here, clientAuthentication: clientSecretPost() },
      [404],
      'The token endpoint answered 404. Nothing was counted. Check tokenEndpoint and the endpoint; the next attempt is possible at 2026-01-01T00:05:00.000Z. See',
    ],
    [
      'says that the request was JSON',
      here,
      [415],
      `The token endpoint answered 415. Nothing was counted. Check tokenEndpoint and the endpoint; the next attempt is possible at 2026-01-01T00:05:00.000Z.${isJson} See`,
    ],
    [
      'says that the request was JSON, if the server misses parameters',
      here,
      [400, '{"error":"invalid_request"}'],
      `The token endpoint rejected this request (400 invalid_request). Check audience, scope, and what the client may have; a changed secret is tried at once, this one at 2026-01-01T00:05:00.000Z.${isJson} See`,
    ],
    [
      'names what there is in place of a secret',
      { ...here, clientAuthentication: tlsClientAuth(), clientSecret: undefined, storeKey: 'k'.repeat(32) },
      [401, '{"error":"invalid_client"}'],
      'The token endpoint rejected the credentials (401 invalid_client). Check audience, clientId, issuer, and the key, the assertion or the certificate of the client; a changed credential is tried at once, this one at 2026-01-01T00:05:00.000Z. See',
    ],
  ])('%s', async (_, options, answer, message) => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(answering(...answer));
    await expect(clock.until(client(options).getToken())).rejects.toThrow(`[service-auth] ${message}`);
  });
});

describe('an error while the fleet backs off', () => {
  test('says what has failed, as far as the record knows', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(failing('ECONNREFUSED'));
    await failure('ERR_TOKEN_ENDPOINT', clock.until(client().getToken()));
    await expect(clock.until(client().getToken())).rejects.toThrow(
      '[service-auth] The token endpoint could not be reached or did not answer. Nothing was counted. Check authUrl and the endpoint; the next attempt is possible at 2026-01-01T00:00:01.000Z.',
    );
  });
});

describe('an error of the budget', () => {
  test('says what was spent of what, and when there is room again', async () => {
    const { client, clock, token } = createBed();
    const auth = client({ issuanceLimit: { tokens: 1, reserve: 0, windowMs: hour } });
    await auth.invalidate(await token(auth));
    await auth.reset();
    const error = await failure('ERR_ISSUANCE_LIMIT', clock.until(auth.getToken()));
    expect(error).toMatchObject({ limit: 1, used: 1, windowMs: hour });
    expect(error.message).toBe(
      `[service-auth] The limit is reached: 1 of 1 usable tokens are spent (limit 1 in 1 h), so no request was sent. service-auth explain names who spent them. The next one is possible at ${new Date(error.retryAt).toISOString()}. See ${errorPage}#err_issuance_limit`,
    );
  });
});

describe('an error of the store', () => {
  test.each([
    ['load', 'read'],
    ['swap', 'written'],
  ] as const)('that fails to %s names what failed, and what to do', async (operation, verb) => {
    const { client, clock, store } = createBed();
    store.always(operation, fails);
    await expect(clock.until(client().getToken())).rejects.toThrow(
      `[service-auth] The store could not be ${verb} (Error ECONNRESET). Check the store and try again. The next attempt is possible at 2026-01-01T00:00:`,
    );
  });

  test.each([
    [
      'nonsense',
      'in the durable store is damaged, so no token is requested. Keep a copy (service-auth record export), then run service-auth record discard: processes that run put back what they remember.',
    ],
    ...['service-auth/1 x', 'service-auth/77 x'].map((record) => [
      record,
      'in the durable store was written by another version. If that is newer, update this process. If it is older, stop all processes and discard the record.',
    ]),
  ] as [record: string, message: string][])('about the record %j says whose turn it is', async (record, message) => {
    const { client, clock, store } = createBed();
    const load = async () => ({ record, version: '1', now: clock.now() });
    await expect(client({ store: { ...store, load } }).getToken()).rejects.toThrow(
      /^\[service-auth\] The record [0-9a-f]{40} in the durable store /,
    );
    await expect(client({ store: { ...store, load } }).getToken()).rejects.toThrow(message);
  });
});

describe('an error of the client', () => {
  test('that was closed says so', async () => {
    const auth = createBed().client();
    await auth.close();
    const message = '[service-auth] This client was closed. Create another one.';
    for (const call of [() => auth.getToken(), () => auth.reset(), () => auth.getUsage()]) {
      await expect(call()).rejects.toThrow(message);
    }
  });

  test.each([
    [{ more: 1 }, 'more is not an option'],
    [{ allowInsecureHttp: 'yes' }, 'allowInsecureHttp must be a boolean'],
    [{ audience: '' }, 'audience must be a string that is not empty'],
    [{ audience: 'a'.repeat(513) }, 'audience must be at most 512 characters long'],
    [{ clientId: 'a'.repeat(513) }, 'clientId must be at most 512 characters long'],
    [{ clientId: 'a ' }, 'clientId must not begin or end with white space, such as the line break of a file: trim it'],
    [{ clientId: 'a\u0000b' }, 'clientId must not contain control characters or unpaired surrogates'],
    [
      { clientSecret: 'a\n' },
      'clientSecret must not begin or end with white space, such as the line break of a file: trim it',
    ],
    [{ clientSecret: 'a'.repeat(4_097) }, 'clientSecret must be at most 4096 characters long'],
    [{ instance: 'a'.repeat(65) }, 'instance must be at most 64 characters long'],
    [{ timeoutMs: 0 }, 'timeoutMs must be an integer from 1 to 300000'],
    [{ storeKey: 'a'.repeat(31) }, 'storeKey must be a string or Uint8Array of at least 32 random characters or bytes'],
    [
      { storeKey: Array.from('a'.repeat(32)) },
      'storeKey must be a string or Uint8Array of at least 32 random characters or bytes',
    ],
    [{ clock: {} }, 'clock must be a Clock, such as createTestClock()'],
    [{ store: { durability: 'process' } }, 'store must be a Store, such as fileStore()'],
    [{ transport: fetch as never }, 'transport must be a Transport: for a fetch, give fetchTransport({ fetch })'],
    [{ store: { ...memoryStore(), swap: undefined } }, 'store must be a Store, such as fileStore()'],
    [
      { store: { ...memoryStore(), durability: 'forever' } },
      "store must have a durability of 'process', 'durable' or 'replicated'",
    ],
    [
      { store: null },
      "store must be a Store, such as fileStore(); store must have a durability of 'process', 'durable' or 'replicated'",
    ],
    [{ timeoutMs: null }, 'timeoutMs must be an integer from 1 to 300000'],
    [{ allowInsecureHttp: null }, 'allowInsecureHttp must be a boolean'],
    [
      { clientAuthentication: null },
      'clientAuthentication must be a ClientAuthentication, such as clientSecretBasic(), with all that its type has',
    ],
    [{ parameters: new URLSearchParams('organization=one') }, 'parameters must be an object of names and values'],
    [{ transport: {} }, 'transport must be a function'],
    [{ onEvent: {} }, 'onEvent must be a function'],
    [{ waitUntil: {} }, 'waitUntil must be a function'],
    [{ issuanceLimit: 150 }, 'issuanceLimit must be an object such as { tokens: 150 }, or unlimited'],
    [
      { issuanceLimit: new Map([['tokens', 50]]) },
      'issuanceLimit must be an object such as { tokens: 150 }, or unlimited',
    ],
    [
      { issuanceLimit: Object.create({ tokens: 50 }) },
      'issuanceLimit must be an object such as { tokens: 150 }, or unlimited',
    ],
    [{ issuanceLimit: { more: 1 } }, 'issuanceLimit.more is not an option'],
    [{ issuanceLimit: { tokens: 0 } }, 'issuanceLimit.tokens must be an integer from 1 to 1000000'],
    [{ issuanceLimit: { windowMs: 0 } }, 'issuanceLimit.windowMs must be an integer from 1000 to 2678400000'],
    [{ issuanceLimit: { tokens: 9, reserve: 9 } }, 'issuanceLimit.reserve must be an integer from 0 to 8'],
    [
      { timeoutMs: 0, audience: '' },
      'audience must be a string that is not empty; timeoutMs must be an integer from 1 to 300000',
    ],
  ])('with the options %j says what is wrong', async (change, message) => {
    const options = { authUrl: 'https://h', audience: 'a', clientId: 'c', clientSecret: 's', ...change };
    const error = await failure('ERR_CONFIG', () => createServiceAuth(options as never));
    expect(error.message).toBe(`[service-auth] Wrong options: ${message}. See ${errorPage}#err_config`);
  });

  test('takes a limit from an object of a class that has its own', async () => {
    class Agreement {
      tokens = 50;
    }
    const options = { authUrl: 'https://h', audience: 'a', clientId: 'c', clientSecret: 's' };
    const auth = createServiceAuth({ ...options, store: memoryStore(), issuanceLimit: new Agreement() });
    expect(await auth.getUsage()).toMatchObject({ limit: 50 });
  });

  test.each([undefined, null, 7, 'text', [], () => {}])(
    'with %j for options names all that are needed',
    async (given) => {
      const message = async (options: unknown) =>
        (await failure('ERR_CONFIG', () => createServiceAuth(options as never))).message;
      expect(await message(given)).toBe(await message({}));
    },
  );

  test.each([
    [() => new Promise<string>(() => {}), 'its result does not come within 30000 ms'],
    [() => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })), 'Error ECONNREFUSED'],
    [() => '', 'its result must be a string that is not empty'],
    [() => 5 as never, 'its result must be a string that is not empty'],
  ])('whose secret is a function, number %#, says what it did', async (clientSecret, why) => {
    const { client, clock } = createBed();
    await expect(clock.until(client({ clientSecret }).getToken())).rejects.toThrow(
      `[service-auth] The function for the client secret failed (${why}). Check it; the next attempt is possible at 2026-01-01T00:00:`,
    );
  });
});

describe('the transport', () => {
  const { signal } = new AbortController();
  const answer = (response: Response) =>
    fetchTransport({ fetch: async () => response })({
      url: 'https://h',
      method: 'POST',
      headers: {},
      body: '',
      signal,
    });

  test.each([
    [new Uint8Array(65_537), 'is no usable bearer token (too_large)'],
    [new Uint8Array([0xff]), 'is no usable bearer token (not_utf8)'],
  ])('says what is wrong with a token response, number %#', async (body, problem) => {
    await expect(answer(new Response(body))).rejects.toThrow(`[service-auth] The token endpoint's answer ${problem}.`);
    const error = await answer(new Response(body, { status: 500 }));
    expect([error.status, await error.body]).toEqual([500, '']);
  });

  test('puts together characters that arrive in pieces', async () => {
    const pieces = [...new TextEncoder().encode('"€"')].map((byte) => new Uint8Array([byte]));
    expect(await answer(new Response(ReadableStream.from(pieces)))).toMatchObject({ body: '"€"' });
  });
});
