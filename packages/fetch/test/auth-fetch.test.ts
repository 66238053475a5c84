import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { fetchTransport } from '@service-auth/core';
import { createAuth, startForeign, startService, startTwoApis } from '@service-auth/test-support/service';
import * as undici from 'undici';
import { afterEach, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { createAuthFetch } from '../src/index.ts';

/** A fetch that remembers what it was given and answers each time as told. */
function createRecorder(...answers: (() => Response)[]) {
  const calls: [input: unknown, init: RequestInit & Record<string, unknown>][] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    calls.push([input, (init ?? {}) as RequestInit & Record<string, unknown>]);
    return (answers[calls.length - 1] ?? (() => new Response('{}')))();
  };
  return { calls, fetch };
}

describe('what may be given', () => {
  test('a `fetch` that is no function is refused at once', async () => {
    const auth = createAuth(await startService());
    const message = '[service-auth/fetch] The option `fetch` must be a function.';
    for (const wrong of [{ fetch }, null, 'fetch'])
      expect(() => createAuthFetch(auth, { fetch: wrong as never })).toThrow(new TypeError(message));
  });

  test('a string, a URL or a Request', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const url = `${service.baseUrl}/api/v1/`;
    for (const input of [url, new URL(url), new Request(url)]) expect((await authFetch(input)).status).toBe(200);
    expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
  });

  test('a URL and options where somebody gave all objects a clone()', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    Object.defineProperty(Object.prototype, 'clone', { value: () => ({}), configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(Object.prototype, 'clone'));
    const url = new URL(`${service.baseUrl}/api/v1/`);
    expect((await authFetch(url, { headers: { 'X-One': '1' } })).status).toBe(200);
    expect((await authFetch(new Request(url))).status).toBe(200);
    expect(service.apiRequests.map(({ headers }) => headers['x-one'])).toEqual(['1', undefined]);
  });

  test('headers in any form, which stay as they are', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const record = { 'X-One': '1' };
    const forms = [undefined, record, Object.entries(record), new Headers(record), new Map(Object.entries(record))];
    for (const headers of forms) {
      const before = JSON.stringify([...new Headers(headers as RequestInit['headers'])]);
      const { status } = await authFetch(`${service.baseUrl}/api/v1/`, { headers: headers as Record<string, string> });
      expect(status).toBe(200);
      expect(JSON.stringify([...new Headers(headers as RequestInit['headers'])])).toBe(before);
    }
    expect(service.apiRequests.map(({ headers }) => headers['x-one'])).toEqual([undefined, '1', '1', '1', '1']);
  });

  test('headers of a wrong type, which fetch rejects', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    for (const headers of ['authorization: Bearer own', 5, true] as never[]) {
      const url = `${service.baseUrl}/api/v1/`;
      const expected = await fetch(url, { headers }).catch(String);
      expect(await authFetch(url, { headers }).catch(String)).toBe(expected);
    }
    expect(service.counts).toMatchObject({ tokenRequests: 0, apiRequests: 0 });
  });

  test('an object with a `url` of its own, which goes where fetch sends it', async () => {
    const { calls, fetch } = createRecorder();
    const auth = createAuth(await startService());
    const input = { url: 'http://127.0.0.1/', toString: () => 'https://elsewhere.example/' } as never;
    await createAuthFetch({ ...auth, covers: (url) => String(url).startsWith('http://127.0.0.1') }, { fetch })(input);
    expect(calls).toEqual([[input, {}]]);
  });

  test('an Authorization in any of these forms, which then wins', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const url = `${service.baseUrl}/api/v1/`;
    const own = { AUTHORIZATION: 'Bearer own' };
    for (const headers of [own, Object.entries(own), new Headers(own)]) await authFetch(url, { headers });
    await authFetch(new Request(url, { headers: own }));
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['invalid', 'invalid', 'invalid', 'invalid']);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('headers that can be read once, with and without an Authorization', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const url = `${service.baseUrl}/api/v1/`;
    await authFetch(url, { headers: new Map([['x-one', '1']]).entries() as never });
    await authFetch(url, { headers: Object.entries({ 'x-one': '1', authorization: 'Bearer own' }).values() as never });
    const facts = service.apiRequests.map(({ bearer, headers }) => `${bearer} ${headers['x-one']}`);
    expect(facts).toEqual(['valid 1', 'invalid 1']);
  });

  test('a Request with other headers, which replace its own', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const request = new Request(`${service.baseUrl}/api/v1/`, {
      headers: { authorization: 'Bearer own', 'x-one': '1' },
    });
    expect((await authFetch(request, { headers: { 'x-two': '2' } })).status).toBe(200);
    expect(service.apiRequests[0]?.headers).toMatchObject({ 'x-two': '2' });
    expect(service.apiRequests[0]?.headers).not.toHaveProperty('x-one');
  });

  test('a Request in the place of the fields, as proxies in workers have it', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const incoming = new Request('https://proxy.example/x', {
      method: 'POST',
      body: 'text',
      headers: { 'x-one': '1' },
    });
    expect((await authFetch(`${service.baseUrl}/api/v1/`, incoming)).status).toBe(200);
    const [received] = service.apiRequests;
    expect(received).toMatchObject({ method: 'POST', bearer: 'valid', headers: { 'x-one': '1' } });
    expect(received?.body.text).toBe('text');
  });

  test('a Request in the place of the fields, of the fetch that was given', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service), { fetch: undici.fetch });
    const url = `${service.baseUrl}/api/v1/`;
    const request = new undici.Request('https://proxy.example/x', { headers: { 'x-one': '1' } });
    expect((await authFetch(url, request as never)).status).toBe(200);
    expect(service.apiRequests[0]).toMatchObject({ bearer: 'valid', headers: { 'x-one': '1' } });
  });

  test('headers that cannot be read: then it rejects, as fetch does, and throws nothing', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const headers = {
      [Symbol.iterator]() {
        throw new TypeError('no headers');
      },
    };
    const response = authFetch(`${service.baseUrl}/api/v1/`, { headers: headers as never });
    await expect(response).rejects.toThrow('no headers');
    expect(service.counts).toMatchObject({ tokenRequests: 0, apiRequests: 0 });
  });

  test('a URL with spaces', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    expect((await authFetch(`${service.baseUrl}/api/v1/items?name=a b`)).status).toBe(200);
    expect(service.apiRequests[0]?.path).toBe('/api/v1/items?name=a%20b');
  });

  test('fields of other runtimes, which arrive untouched beside the string', async () => {
    const service = await startService();
    const { calls, fetch } = createRecorder();
    const dispatcher = {};
    const cf = { cacheTtl: 60 };
    const authFetch = createAuthFetch(createAuth(service), { fetch });
    const url = `${service.baseUrl}/api/v1/`;
    await authFetch(url, { dispatcher, cf, headers: { 'x-one': '1' } } as object);
    const [input, init] = calls[0] ?? [];
    expect(input).toBe(url);
    expect(init?.['dispatcher']).toBe(dispatcher);
    expect(init?.['cf']).toBe(cf);
    expect(init?.headers).toEqual({ 'x-one': '1', authorization: expect.stringMatching(/^Bearer /) });
  });

  test('nothing is changed of a request to elsewhere', async () => {
    const service = await startService();
    const { calls, fetch } = createRecorder();
    const authFetch = createAuthFetch(createAuth(service), { fetch });
    const init = { method: 'POST' };
    await authFetch('https://elsewhere.example/', init);
    await authFetch('https://elsewhere.example/');
    expect(calls[0]?.[1]).toBe(init);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('what the caller changes after the call makes no difference', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const headers: Record<string, string> = { 'x-one': '1' };
    const init = { method: 'PUT', headers };
    const url = new URL(`${service.baseUrl}/api/v1/before`);
    const response = authFetch(url, init);
    headers['x-one'] = '2';
    headers['authorization'] = 'Bearer own';
    init.method = 'DELETE';
    url.pathname = '/api/v1/after';
    expect((await response).status).toBe(200);
    expect(service.apiRequests[0]).toMatchObject({ method: 'PUT', path: '/api/v1/before', headers: { 'x-one': '1' } });
  });
});

describe('a 401', () => {
  test('has its body cancelled before the request is sent again', async () => {
    const service = await startService();
    const cancelled: string[] = [];
    const body = () => new ReadableStream({ cancel: () => void cancelled.push('cancelled') });
    const { calls, fetch } = createRecorder(() => new Response(body(), { status: 401 }));
    const authFetch = createAuthFetch(createAuth(service), { fetch });
    expect((await authFetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
    expect(calls).toHaveLength(2);
    expect(cancelled).toEqual(['cancelled']);
  });

  test('has its body cancelled when the wait for another token fails, and that is what the caller learns', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const cancelled: string[] = [];
    const body = () => new ReadableStream({ cancel: () => void cancelled.push('cancelled') });
    const { fetch } = createRecorder(() => {
      void auth.close();
      return new Response(body(), { status: 401 });
    });
    const authFetch = createAuthFetch(auth, { fetch });
    await expect(authFetch(`${service.baseUrl}/api/v1/`)).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect(cancelled).toEqual(['cancelled']);
  });

  test('to the body of a Request is returned, and the next request has a new token', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const authFetch = createAuthFetch(auth);
    await auth.getToken();
    service.revoke('all');
    const url = `${service.baseUrl}/api/v1/`;
    expect((await authFetch(new Request(url, { method: 'POST', body: 'text' }))).status).toBe(401);
    expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['text']);
    expect((await authFetch(url)).status).toBe(200);
    expect(service.counts.issued).toBe(2);
  });

  test('to a body that fetch makes a text of is followed by a resend', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    service.api.next({ status: 401 });
    expect((await authFetch(`${service.baseUrl}/api/v1/`, { method: 'POST', body: 5 as never })).status).toBe(200);
    expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['5', '5']);
  });

  test('to a Request without a body is followed by a resend', async () => {
    const service = await startService();
    const auth = createAuth(service);
    await auth.getToken();
    service.revoke('all');
    expect((await createAuthFetch(auth)(new Request(`${service.baseUrl}/api/v1/`))).status).toBe(200);
  });

  test('with bufferRequests, the body of a Request is sent again with its length', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const authFetch = createAuthFetch(auth, { bufferRequests: true });
    await auth.getToken();
    service.revoke('all');
    const request = new Request(`${service.baseUrl}/api/v1/`, {
      method: 'POST',
      body: JSON.stringify({ text: 'Grüße' }),
      headers: { 'content-type': 'application/json' },
    });
    expect((await authFetch(request)).status).toBe(200);
    const received = service.apiRequests.map(({ body, headers, bearer }) => [
      bearer,
      body.text,
      headers['content-length'],
      headers['content-type'],
    ]);
    const content = ['{"text":"Grüße"}', '18', 'application/json'];
    expect(received).toEqual([
      ['revoked', ...content],
      ['valid', ...content],
    ]);
  });
});

describe('a wait for a token', () => {
  test.each(['init', 'Request'])('rejects with the reason of the signal in the %s', async (place) => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const paused = service.tokenEndpoint.pauseNext();
    const controller = new AbortController();
    const { signal } = controller;
    const url = `${service.baseUrl}/api/v1/`;
    const response = place === 'init' ? authFetch(url, { signal }) : authFetch(new Request(url, { signal }));
    await paused.arrived;
    const reason = new Error('changed my mind');
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    paused.resume();
    expect(service.counts.apiRequests).toBe(0);
  });

  test('goes on when the init takes the signal of a Request away', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    const request = new Request(`${service.baseUrl}/api/v1/`, { signal: AbortSignal.abort() });
    expect((await authFetch(request, { signal: null })).status).toBe(200);
  });
});

describe('another fetch', () => {
  test('that of undici gives the token to a cache of the dispatcher, as the README says', async () => {
    const service = await startService();
    service.api.always({ status: 200, headers: { 'cache-control': 'public, max-age=60' }, body: 'text' });
    const given: unknown[] = [];
    const store = {
      get: () => undefined,
      createWriteStream: (...entry: unknown[]) => void given.push(entry),
      delete() {},
    };
    const dispatcher = new undici.Agent().compose(undici.interceptors.cache({ store }));
    onTestFinished(() => dispatcher.destroy());
    const authFetch = createAuthFetch(createAuth(service), { fetch: undici.fetch });
    await (await authFetch(`${service.baseUrl}/api/v1/`, { dispatcher })).text();
    expect(service.findSecrets(inspect(given, { depth: 9 }))).toEqual(['access token']);
  });

  test('that of undici works with its dispatcher, and its types are kept', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service), { fetch: undici.fetch });
    expectTypeOf(authFetch).toEqualTypeOf<typeof undici.fetch>();
    const dispatcher = new undici.Agent();
    const connected = once(dispatcher, 'connect');
    const response = await authFetch(`${service.baseUrl}/api/v1/`, { dispatcher });
    expect(response.status).toBe(200);
    await response.body?.cancel();
    await connected;
    await dispatcher.close();
  });

  test('serves token requests as well', async () => {
    const service = await startService();
    const dispatcher = new undici.Agent();
    const connected = once(dispatcher, 'connect');
    const transport = fetchTransport({ fetch: (url, init) => undici.fetch(url, { ...init, dispatcher }) });
    await createAuth(service, { transport }).getToken();
    expect(service.counts.issued).toBe(1);
    await connected;
    await dispatcher.close();
    expectTypeOf(fetchTransport).toBeCallableWith({ fetch: undici.fetch });
    expectTypeOf(fetchTransport).toBeCallableWith({ fetch });
  });

  test('the global one is read at each request', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    expectTypeOf(authFetch).toEqualTypeOf<typeof fetch>();
    expectTypeOf(createAuthFetch(createAuth(service), { fetch: undefined })).toEqualTypeOf<typeof fetch>();
    // This is the type of `fetch` in the options of most libraries.
    const options: { fetch?: typeof fetch | undefined } = { fetch: createAuthFetch(createAuth(service)) };
    expectTypeOf(options.fetch).toEqualTypeOf<typeof fetch | undefined>();
    const { calls, fetch: replacement } = createRecorder();
    const original = globalThis.fetch;
    await createAuth(service).getToken();
    try {
      globalThis.fetch = async (input, init) => (String(input).includes('/api/') ? replacement : original)(input, init);
      await authFetch(`${service.baseUrl}/api/v1/`);
    } finally {
      globalThis.fetch = original;
    }
    expect(calls).toHaveLength(1);
  });
});

test('while the vault is down and the token is revoked, the answer is the 401 of the API, and events tell why', async () => {
  const service = await startService();
  const told: string[] = [];
  let isDown = false;
  const clientSecret = () => {
    if (isDown) throw new Error('the vault is down');
    return service.credentials.clientSecret;
  };
  const auth = createAuth(service, { clientSecret, onEvent: ({ type }) => void told.push(type) });
  const authFetch = createAuthFetch(auth);
  await authFetch(`${service.baseUrl}/api/v1/`);
  isDown = true;
  service.revoke('all');
  expect((await authFetch(`${service.baseUrl}/api/v1/`)).status).toBe(401);
  expect(told).toEqual(['token_issued', 'token_rejected', 'client_secret_failed']);
  isDown = false;
  await auth.reset();
  expect((await authFetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
});

describe('in place of the global fetch', () => {
  const original = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = original;
  });

  test('it sends by the fetch that was there before, also the token request', async () => {
    const service = await startService();
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api` });
    globalThis.fetch = createAuthFetch(auth);
    const url = `${service.baseUrl}/api/v1/`;
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${service.baseUrl}/elsewhere`)).status).toBe(404);
    service.revoke('all');
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(200);
    expect(service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
  });

  test('a token request to an address under baseUrl needs no token', async () => {
    const service = await startService();
    globalThis.fetch = createAuthFetch(createAuth(service));
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
  });

  test('several clients serve the API that each covers, also behind a function of the application', async () => {
    const [one, two] = [await startService(), await startService()];
    globalThis.fetch = createAuthFetch(createAuth(one, { baseUrl: `${one.baseUrl}/api` }));
    const first = createAuthFetch(createAuth(two, { baseUrl: `${two.baseUrl}/api` }));
    globalThis.fetch = (...details) => first(...details);
    for (const { baseUrl } of [one, two]) expect((await fetch(`${baseUrl}/api/v1/`)).status).toBe(200);
    expect((await original(`${two.baseUrl}/api/v1/`)).status).toBe(401);
  });

  test('a function around it that waits before it calls it needs the fetch from before', async () => {
    const service = await startService();
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api` });
    const authFetch = createAuthFetch(auth, { fetch: globalThis.fetch });
    globalThis.fetch = async (...details) => {
      await Promise.resolve();
      return authFetch(...details);
    };
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
    expect((await fetch(`${service.baseUrl}/elsewhere`)).status).toBe(404);
    expect(service.counts.issued).toBe(1);
  });

  test.each([
    ['as they are', (init?: RequestInit) => init],
    ['with a header more', (init?: RequestInit) => ({ ...init, headers: { ...init?.headers, 'x-request-id': '1' } })],
  ])('a function around it that waits may pass the options on %s', async (_, change) => {
    const service = await startService();
    globalThis.fetch = createAuthFetch(createAuth(service, { baseUrl: `${service.baseUrl}/api` }));
    const authFetch = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      if (service.counts.apiRequests > 9) throw new Error('it is called again and again');
      await original(`${service.baseUrl}/api/v1/`);
      return authFetch(input, change(init));
    };
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
    expect((await fetch(`${service.baseUrl}/elsewhere`)).status).toBe(404);
    expect((await fetch(new Request(`${service.baseUrl}/api/v1/`))).status).toBe(200);
    expect(service.counts.issued).toBe(1);
  });

  test('a function around it may make a Request of what it is given', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service, { baseUrl: `${service.baseUrl}/api` }));
    globalThis.fetch = (input, init) => authFetch(new Request(input, init));
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
    expect((await fetch(`${service.baseUrl}/elsewhere`)).status).toBe(404);
  });

  test('a redirect out of baseUrl and back has no token again', async () => {
    const service = await startService();
    const foreign = await startForeign();
    globalThis.fetch = createAuthFetch(createAuth(service));
    service.api.next({ status: 302, headers: { location: foreign.url } });
    foreign.answers.next({ status: 302, headers: { location: `${service.baseUrl}/api/v1/` } });
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(401);
  });

  test('a mock that is put there later gets the requests, and what it replaced comes back', async () => {
    const service = await startService();
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api` });
    const authFetch = createAuthFetch(auth);
    globalThis.fetch = authFetch;
    await auth.getToken();
    const { calls, fetch: mock } = createRecorder();
    globalThis.fetch = mock as typeof fetch;
    await authFetch(`${service.baseUrl}/api/v1/`);
    const options = new Request(service.baseUrl, { method: 'POST' });
    await authFetch('https://elsewhere.example/', options);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.[1]).toBe(options);
    globalThis.fetch = authFetch;
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
    expect(calls).toHaveLength(2);
  });
});

test('refuses a client without baseUrl at once', async () => {
  const service = await startService();
  expect(() => createAuthFetch(createAuth(service, { baseUrl: undefined }))).toThrow(
    new TypeError(
      '[service-auth/fetch] This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.',
    ),
  );
});

test('a stream that fails while its request waits for a token rejects the call', async () => {
  const service = await startService();
  const authFetch = createAuthFetch(createAuth(service));
  const paused = service.tokenEndpoint.pauseNext();
  const body = new PassThrough();
  const init = { method: 'POST', body, duplex: 'half' } as unknown as RequestInit;
  const response = authFetch(`${service.baseUrl}/api/v1/`, init).then(
    () => 'answered',
    () => 'rejected',
  );
  await paused.arrived;
  body.destroy(new Error('gone'));
  await once(body, 'close').catch(() => {});
  paused.resume();
  expect(await response).toBe('rejected');
});

test('with bufferRequests, an abort ends the wait for a body that does not end', async () => {
  const service = await startService();
  const authFetch = createAuthFetch(createAuth(service), { bufferRequests: true });
  const controller = new AbortController();
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half', signal: controller.signal };
  const response = authFetch(new Request(`${service.baseUrl}/api/v1/`, init as RequestInit));
  const reason = new Error('the caller left');
  controller.abort(reason);
  await expect(response).rejects.toBe(reason);
});

test('sends each API the token of its own source of one client', async () => {
  const { service, auth, billing, urls, sent } = await startTwoApis();
  await createAuthFetch(auth)(urls.orders);
  await createAuthFetch(billing)(urls.billing);
  await createAuthFetch(billing)(urls.orders);
  expect(sent()).toEqual(['orders: orders', 'billing: billing', 'orders: undefined']);
  expect(service.counts.issued).toBe(2);
});
