import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import { serviceUnavailable } from '@service-auth/core/http';
import {
  createAuth,
  createEagerSource,
  startForeign,
  startService,
  startTwoApis,
} from '@service-auth/test-support/service';
import newest, {
  type ExtendOptions,
  type Got,
  type OptionsInit,
  type PaginationOptions,
  type RequestError,
  type Response,
  TimeoutError,
} from 'got';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { serviceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

const quick = {
  retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 },
} satisfies OptionsInit;

function formOf(text: string): FormData {
  const form = new FormData();
  form.set('text', text);
  return form;
}

test('a time-out that ends the wait for a token has the class of got’s other time-outs', async () => {
  const service = await startService();
  const paused = service.tokenEndpoint.pauseNext();
  const api = newest.extend(serviceAuth(createAuth(service)));
  const options = { timeout: { request: 100 }, retry: { limit: 0 } };
  const error = await api(`${service.baseUrl}/api/v1/`, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ name: 'TimeoutError', event: 'request', options: { retry: { limit: 0 } } });
  paused.resume();
});

test('requests of an extended instance keep their types', async () => {
  const service = await startService();
  const api = newest.extend(serviceAuth(createAuth(service)));
  const url = `${service.baseUrl}/api/v1/`;
  expectTypeOf(await api(url)).toEqualTypeOf<Response<string>>();
  expectTypeOf(await api(url).text()).toEqualTypeOf<string>();
});

async function connect() {
  const service = await startService();
  const auth = createAuth(service);
  return { service, auth, plugin: serviceAuth(auth), url: `${service.baseUrl}/api/v1/` };
}

describe.each(Object.entries(copies))('with %s', (_, got) => {
  describe('the token', () => {
    test('follows redirects as far as baseUrl reaches', async () => {
      const service = await startService();
      const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` });
      const api = got.extend(serviceAuth(auth), { throwHttpErrors: false });
      service.api.next({ status: 302, headers: { location: '/api/v1/items/2' } });
      service.api.next({ status: 302, headers: { location: '/api/v1/others' } });
      expect((await api(`${service.baseUrl}/api/v1/items/1`)).statusCode).toBe(401);
      const received = service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`);
      expect(received).toEqual(['/api/v1/items/1 valid', '/api/v1/items/2 valid', '/api/v1/others none']);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
    });

    test('does not follow a hook that changes the address, wherever it was added', async () => {
      const service = await startService();
      const foreign = await startForeign();
      const divert = {
        hooks: {
          beforeRequest: [
            (options) => {
              options.url = new URL(foreign.url);
            },
          ],
        },
      } satisfies OptionsInit;
      const plugin = serviceAuth(createAuth(service));
      const url = `${service.baseUrl}/api/v1/`;
      await got.extend(divert, plugin)(url);
      await got.extend(plugin, divert)(url);
      await got.extend(plugin).extend(divert)(url);
      await got.extend(plugin)(url, divert);
      expect(foreign.requests).toHaveLength(4);
      expect(foreign.received).not.toMatch(/authorization/i);
    });

    test('gives way to one that a hook sets at a redirect', async () => {
      const service = await startService();
      const url = `${service.baseUrl}/api/v1/`;
      service.api.next({ status: 302, headers: { location: '/api/v1/' } });
      const beforeRedirect = [
        (options: OptionsInit) => Object.assign(options.headers ?? {}, { authorization: 'Basic of-its-own' }),
      ];
      const { signal } = new AbortController();
      const api = got.extend(serviceAuth(createAuth(service)), { throwHttpErrors: false });
      await api(url, { signal, hooks: { beforeRedirect: beforeRedirect as never } });
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'invalid']);
    });

    test('is that of the moment when got itself tries again', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth), quick);
      const renewBetween = {
        hooks: {
          beforeRetry: [
            async () => {
              const token = await auth.getToken();
              service.revoke('all');
              await auth.invalidate(token);
            },
          ],
        },
      } satisfies OptionsInit;
      service.api.next({ status: 503 });
      expect(await api(`${service.baseUrl}/api/v1/`, renewBetween).json()).toMatchObject({ bearer: 'valid' });
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    });

    test('goes with streams, whose 401 is returned and leads to another token', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth), { throwHttpErrors: false });
      const url = `${service.baseUrl}/api/v1/`;
      expect(await text(api.stream(url))).toContain('"bearer":"valid"');
      service.revoke('all');
      expect(await text(api.stream(url))).toContain('invalid_token');
      expect(await text(api.stream(url))).toContain('"bearer":"valid"');
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 3 });
    });

    test('goes with every page of a pagination', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth));
      const pages: string[] = [];
      const pagination = {
        paginate: () => (pages.length < 3 ? { searchParams: { page: pages.length } } : (false as const)),
        transform: (response: { body: unknown }) => [JSON.parse(String(response.body)).bearer as string],
      };
      for await (const bearer of api.paginate<string>(`${service.baseUrl}/api/v1/`, { pagination })) {
        pages.push(bearer);
        if (pages.length === 1) service.revoke('all');
      }
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 4 });
      expect(pages).toEqual(['valid', 'valid', 'valid']);
    });
  });

  describe('timeout.request', () => {
    test('ends the wait for a token as got times out, with a cause that says what it waited for', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth), quick);
      const url = `${service.baseUrl}/api/v1/`;
      const paused = service.tokenEndpoint.pauseNext();
      const retried: unknown[] = [];
      const hooks = { beforeRetry: [(error: RequestError) => void retried.push(error.code)] };
      const timedOut = (got: Promise<unknown>) => got.catch((thrown: RequestError) => thrown);
      for (const retry of [quick.retry, { limit: 0 }]) {
        const error = await timedOut(api(url, { timeout: { request: 100 }, hooks, retry }));
        expect(error).toMatchObject({
          message: "Timeout awaiting 'request' for 100ms",
          code: 'ETIMEDOUT',
          cause: {
            code: 'ERR_TOKEN_PENDING',
            waitsFor: 'token_endpoint',
            message: expect.stringContaining('the token endpoint has not answered for 0.'),
          },
        });
        expect(serviceUnavailable(error)).toEqual({ status: 503, headers: {} });
        expect(inspect(error)).toContain('ERR_TOKEN_PENDING');
      }
      // got retries it as it does its other time-outs.
      expect(retried).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
      expect(service.counts).toMatchObject({ tokenRequests: 1, apiRequests: 0 });
      expect(auth.events).toMatchObject([{ type: 'token_unavailable', code: 'ERR_TOKEN_PENDING' }]);

      const stream = api.stream(url, { timeout: { request: 100 }, retry: { limit: 0 } });
      await expect(text(stream)).rejects.toMatchObject({ code: 'ETIMEDOUT', cause: { code: 'ERR_TOKEN_PENDING' } });
      paused.resume();
    });

    test('ends the wait for another token after a 401, too', async () => {
      const service = await startService();
      const auth = createAuth(service);
      await auth.getToken();
      service.revoke('all');
      const paused = service.tokenEndpoint.pauseNext();
      const error = await got
        .extend(serviceAuth(auth))(`${service.baseUrl}/api/v1/`, { timeout: { request: 500 }, retry: { limit: 0 } })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'ETIMEDOUT', cause: { code: 'ERR_TOKEN_PENDING' } });
      paused.resume();
    });
  });

  test('a pagination gets another token for each page that needs one', async () => {
    const service = await startService();
    const pages: string[] = [];
    const pagination = {
      // Everything of the page before, the context included.
      paginate: ({ response }: { response: Response }) => (pages.length < 3 ? response.request.options : false),
      transform: (response: { body: unknown }) => [String(response.body)],
    } as PaginationOptions<string, unknown>;
    service.api.always(() => ({ status: service.counts.apiRequests % 2 === 1 ? 401 : 200, body: 'page' }));
    const api = got.extend(serviceAuth(createEagerSource()));
    for await (const page of api.paginate<string>(`${service.baseUrl}/api/v1/`, { pagination })) pages.push(page);
    expect(pages).toEqual(['page', 'page', 'page']);
    expect(service.counts.apiRequests).toBe(6);
  });

  describe('an Authorization', () => {
    test('of an instance, a request or an address wins', async () => {
      const service = await startService();
      const api = got.extend(serviceAuth(createAuth(service)), { throwHttpErrors: false });
      const url = `${service.baseUrl}/api/v1/`;
      const headers = { AUTHORIZATION: 'Bearer own' };
      await api(url, { headers });
      await api.extend({ headers })(url);
      await got.extend({ headers, throwHttpErrors: false }, serviceAuth(createAuth(service)))(url);
      await api(url, { username: 'user', password: 'password' });
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['invalid', 'invalid', 'invalid', 'invalid']);
      expect(service.counts.tokenRequests).toBe(0);
    });

    test('of another hook wins, and its 401 is its own affair', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const own = {
        hooks: {
          beforeRequest: [
            ({ headers }) => {
              headers['authorization'] = 'Bearer own';
            },
          ],
        },
      } satisfies OptionsInit;
      const response = await got.extend(serviceAuth(auth), own, { throwHttpErrors: false })(
        `${service.baseUrl}/api/v1/`,
      );
      expect(response.statusCode).toBe(401);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_bypassed']);
    });

    test('gives way to an Authorization of the request, also if its source does not count that', async () => {
      const foreign = await startForeign();
      const api = got.extend(serviceAuth(createEagerSource()), { headers: { authorization: 'Basic own' } });
      await api(foreign.url);
      expect(foreign.received).toContain('Basic own');
    });
  });

  describe('a 401', () => {
    test('is handled although the application allows no retries', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth), { retry: { limit: 0, calculateDelay: () => 0 } });
      await auth.getToken();
      service.revoke('all');
      expect(await api(`${service.baseUrl}/api/v1/`).json()).toMatchObject({ bearer: 'valid' });
    });

    test('leaves the retries that the application does allow', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth), quick);
      await auth.getToken();
      service.revoke('all');
      service.api.next({ status: 503 }, {}, { status: 503 });
      expect(await api(`${service.baseUrl}/api/v1/`).json()).toMatchObject({ bearer: 'valid' });
      const bearers = service.apiRequests.map(({ bearer }) => bearer);
      expect(bearers).toEqual(['revoked', 'revoked', 'valid', 'valid']);
    });

    test('takes none of the retries that the application counts', async () => {
      const { service, auth, plugin, url } = await connect();
      const attempts: number[] = [];
      const retries: [code: string, count: number | undefined][] = [];
      const api = got.extend(plugin, {
        retry: {
          limit: 5,
          calculateDelay({ attemptCount, computedValue }) {
            attempts.push(attemptCount);
            return attemptCount > 2 ? 0 : computedValue && 1;
          },
        },
        hooks: { beforeRetry: [({ code }, count) => void retries.push([code, count])] },
      });
      await auth.getToken();
      service.revoke('all');
      service.api.next({}, { status: 503 }, { status: 503 });
      expect((await api(url)).retryCount).toBe(2);
      expect(attempts).toEqual([1, 2]);
      const retried = 'ERR_NON_2XX_3XX_RESPONSE';
      expect(retries).toEqual([
        ['ERR_RETRYING', 0],
        [retried, 1],
        [retried, 2],
      ]);
    });

    test('lets the hooks of other plug-ins run for the second answer, too', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const seen: number[] = [];
      const other = {
        hooks: {
          afterResponse: [
            (response) => {
              seen.push(response.statusCode);
              return response;
            },
          ],
        },
      } satisfies OptionsInit;
      await auth.getToken();
      service.revoke('all');
      await got.extend(other, serviceAuth(auth), other)(`${service.baseUrl}/api/v1/`);
      expect(seen).toEqual([401, 200, 200]);
    });

    test('is an HTTPError of got when no other token is available', async () => {
      const service = await startService();
      const auth = createAuth(service);
      await auth.getToken();
      service.revoke('all');
      service.tokenEndpoint.always({ status: 503 });
      await expect(got.extend(serviceAuth(auth))(`${service.baseUrl}/api/v1/`)).rejects.toMatchObject({
        name: 'HTTPError',
        response: { statusCode: 401 },
        cause: { code: 'ERR_TOKEN_REJECTED' },
      });
    });

    test('says in its cause that the request had an Authorization of its own, wherever that was set', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const api = got.extend(serviceAuth(auth));
      const url = `${service.baseUrl}/api/v1/`;
      const own: OptionsInit[] = [
        { headers: { Authorization: 'Bearer own' } },
        {
          hooks: { beforeRequest: [({ headers }) => void Object.assign(headers, { authorization: 'Bearer left in' })] },
        },
      ];
      for (const options of own) {
        const error = await api(url, options).catch((thrown: Error) => thrown);
        const message = expect.stringContaining('had an Authorization of its own, so it was sent without the token');
        expect(error).toMatchObject({ name: 'HTTPError', response: { statusCode: 401 }, cause: { message } });
        expect(serviceUnavailable(error)).toBeUndefined();
      }
      expect(auth.events.filter(({ type }) => type === 'token_bypassed')).toHaveLength(1);
      expect(service.counts.tokenRequests).toBe(0);
    });

    test('says in its cause that no client covers the URL', async () => {
      const service = await startService();
      const elsewhere = ['/one', '/two'].map((path) => createAuth(service, { baseUrl: `${service.baseUrl}${path}` }));
      const api = got.extend(...elsewhere.map((auth) => serviceAuth(auth)));
      const error = await api(`${service.baseUrl}/api/v1/?key=x`).catch((thrown: Error) => thrown);
      const message = expect.stringMatching(/^\[service-auth\] No token was sent to http:\S+\/api\/v1\/: no attached/);
      expect(error).toMatchObject({ name: 'HTTPError', response: { statusCode: 401 }, cause: { message } });
      expect(serviceUnavailable(error)).toBeUndefined();

      service.api.next({ status: 302, headers: { location: '/api/v1/two' } });
      const covered = got.extend(serviceAuth(createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/one` })));
      const redirected = await covered(`${service.baseUrl}/api/v1/one`).catch((thrown: Error) => thrown);
      expect(redirected).toMatchObject({ name: 'HTTPError', response: { statusCode: 401 } });
      expect(redirected).not.toMatchObject({ cause: { message: expect.anything() } });
    });

    test('has no cause of ours when the request had no token of ours on purpose, or had that of another client', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const url = `${service.baseUrl}/api/v1/`;
      const api = got.extend(serviceAuth(auth));
      const exempt = await api(url, { context: { serviceAuth: false } }).catch((thrown: Error) => thrown);
      expect(exempt).toMatchObject({ name: 'HTTPError', response: { statusCode: 401 }, cause: {} });
      expect(serviceUnavailable(exempt)).toBeUndefined();

      await auth.getToken();
      service.revoke('all');
      service.tokenEndpoint.always({ status: 503 });
      const other = createAuth(service, { baseUrl: `${service.baseUrl}/other` });
      for (const extensions of [
        [serviceAuth(auth), serviceAuth(other)],
        [serviceAuth(other), serviceAuth(auth)],
      ]) {
        await expect(got.extend(...extensions)(url)).rejects.toMatchObject({ cause: { code: 'ERR_TOKEN_REJECTED' } });
      }
    });

    test.each<[kind: string, content: () => OptionsInit, sent: string]>([
      ['a form', () => ({ form: { text: 'Grüße' } }), 'text=Gr%C3%BC%C3%9Fe'],
      ['JSON', () => ({ json: { text: 'Grüße' } }), '{"text":"Grüße"}'],
      ['JSON by hand', () => ({ body: '"Grüße"', headers: { 'content-type': 'application/json' } }), '"Grüße"'],
    ])('to %s is followed by the same once more', async (_kind, content, sent) => {
      const service = await startService();
      const auth = createAuth(service);
      await auth.getToken();
      service.revoke('all');
      await got.extend(serviceAuth(auth)).post(`${service.baseUrl}/api/v1/`, content());
      const [first, second] = service.apiRequests;
      expect(first?.body.text).toBe(sent);
      expect(second?.body).toEqual(first?.body);
      expect(second?.headers).toEqual(first?.headers);
    });

    test('to a form with a content type of its own keeps it', async () => {
      const service = await startService();
      const auth = createAuth(service);
      await auth.getToken();
      service.revoke('all');
      const body = formOf('Grüße');
      const headers = { 'content-type': 'multipart/form-data; boundary=own' };
      await got.extend(serviceAuth(auth)).post(`${service.baseUrl}/api/v1/`, { body, headers });
      const types = service.apiRequests.map((request) => request.headers['content-type']);
      expect(types).toEqual([headers['content-type'], headers['content-type']]);
    });

    test.each<[kind: string, make: () => unknown]>([
      ['a stream', () => Readable.from(['text'])],
      [
        'a generator',
        async function* () {
          yield 'text';
        },
      ],
    ])('to %s is returned', async (_kind, make) => {
      const service = await startService();
      const auth = createAuth(service);
      await auth.getToken();
      service.revoke('all');
      const api = got.extend(serviceAuth(auth), { throwHttpErrors: false });
      const url = `${service.baseUrl}/api/v1/`;
      expect((await api.post(url, { body: make() as Readable })).statusCode).toBe(401);
      expect((await api.post(url, { body: make() as Readable })).statusCode).toBe(200);
      expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['text', 'text']);
    });
  });

  describe('a 401 that got makes an error of', () => {
    const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
    const ways: [way: string, send: (api: Got, url: string) => Promise<void>][] = [
      ['a download', (api, url) => pipeline(api.stream(url), nowhere())],
      ['an upload', (api, url) => pipeline(Readable.from(['text']), api.stream.post(url), nowhere())],
      ['a stream with a body', (api, url) => pipeline(api.stream.post(url, { body: 'text' }), nowhere())],
    ];

    test.each(ways)('(%s) is reported with its reason, and the next one has another token', async (_way, send) => {
      const { service, auth, plugin, url } = await connect();
      const api = got.extend(plugin);
      await send(api, url);
      service.revoke('all');
      const error = await send(api, url).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        name: 'HTTPError',
        response: { statusCode: 401 },
        cause: { code: 'ERR_TOKEN_REJECTED' },
      });
      expect(serviceUnavailable(error)).toMatchObject({ status: 503 });
      await send(api, url);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected', 'token_issued']);
    });

    test.each(ways)('(%s) says why it had no token', async (_way, send) => {
      const { service, auth, plugin, url } = await connect();
      const own = got.extend(plugin, { headers: { authorization: ['Bearer own'] } });
      await expect(send(own, url)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('had an Authorization of its own') },
      });
      expect(auth.events.map(({ type }) => type)).toEqual(['token_bypassed']);
      const elsewhere = got.extend(serviceAuth(createAuth(service, { baseUrl: `${service.baseUrl}/other` })));
      await expect(send(elsewhere, url)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('No token was sent to') },
      });
    });

    test('is reported before the application lets a stream try again, which then has another token', async () => {
      const { service, auth, plugin, url } = await connect();
      const api = got.extend(plugin, { retry: { limit: 1, statusCodes: [401], calculateDelay: () => 1 } });
      await auth.getToken();
      service.revoke('all');
      const answer = await new Promise<string>((resolve, reject) => {
        const stream = api.stream(url);
        stream.once('error', reject);
        stream.once('retry', (_count, _error, createRetryStream) => resolve(text(createRetryStream())));
        stream.resume();
      });
      expect(answer).toContain('"bearer":"valid"');
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['revoked', 'valid']);
    });

    test('because its body breaks off is reported', async () => {
      const { service, auth, plugin, url } = await connect();
      const api = got.extend(plugin, { retry: { limit: 0 } });
      await auth.getToken();
      service.api.next({ status: 401, body: 'x'.repeat(100_000), cut: 'body' });
      await expect(api(url)).rejects.toMatchObject({ name: 'ReadError' });
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected']);
    });

    test('because an earlier hook throws is reported', async () => {
      const { service, auth, plugin, url } = await connect();
      const failing: OptionsInit = {
        hooks: {
          afterResponse: [
            () => {
              throw new Error('of another plug-in');
            },
          ],
        },
      };
      await auth.getToken();
      service.revoke('all');
      await expect(got.extend(failing, plugin)(url)).rejects.toThrow('of another plug-in');
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected']);
    });

    test('once it was sent again is reported once for each token', async () => {
      const service = await startService();
      const source = createEagerSource();
      const invalidate = vi.spyOn(source, 'invalidate');
      service.api.always({ status: 401 });
      const api = got.extend(serviceAuth(source), quick, { retry: { statusCodes: [401], limit: 1 } });
      await expect(api(`${service.baseUrl}/api/v1/`)).rejects.toMatchObject({ response: { statusCode: 401 } });
      const reported = invalidate.mock.calls.map(([{ id }]) => id);
      expect(reported).toEqual([...new Set(service.apiRequests.map((_request, index) => `id-${index + 1}`))]);
    });
  });

  describe('a 401 after a redirect', () => {
    test.each<[status: number, kind: string, make: () => OptionsInit]>([
      ...[301, 302, 303, 307, 308].flatMap((status): [number, string, () => OptionsInit][] => [
        [status, 'a string', () => ({ body: 'an order' })],
        [status, 'a form', () => ({ form: { order: 1 } })],
      ]),
      // got reads a FormData once: a redirect that keeps the body never ends, with or without a token.
      [303, 'a FormData', () => ({ body: formOf('an order') })],
    ])('%d of a POST of %s leads to a resend of the last request only', async (status, _kind, make) => {
      const service = await startService();
      const auth = createAuth(service);
      service.api.always(({ path }) =>
        path === '/api/v1/' ? { status, headers: { location: '/api/v1/on' } } : undefined,
      );
      await auth.getToken();
      service.revoke('all');
      await got.extend(serviceAuth(auth)).post(`${service.baseUrl}/api/v1/`, make());
      const [first, second, third, ...others] = service.apiRequests;
      expect([first, second, third].map((request) => request?.path)).toEqual(['/api/v1/', '/api/v1/on', '/api/v1/on']);
      expect([first?.method, third?.bearer]).toEqual(['POST', 'valid']);
      expect(second?.method).toBe(status === 303 ? 'GET' : 'POST');
      expect([third?.method, third?.body.bytes]).toEqual([second?.method, second?.body.bytes]);
      expect(others).toEqual([]);
    });
  });

  test('a second 401 is reported, too', async () => {
    const service = await startService();
    const source = createEagerSource();
    const invalidate = vi.spyOn(source, 'invalidate');
    service.api.always({ status: 401 });
    const api = got.extend(serviceAuth(source), { throwHttpErrors: false });
    expect((await api(`${service.baseUrl}/api/v1/`)).statusCode).toBe(401);
    expect(service.counts.apiRequests).toBe(2);
    expect(invalidate.mock.calls.map(([{ id }]) => id)).toEqual(['id-1', 'id-2']);
  });

  describe('a request that is under way while other tokens replace its own', () => {
    async function outlive(renewals: number) {
      const service = await startService();
      const source = createEagerSource();
      const invalidate = vi.spyOn(source, 'invalidate');
      const api = got.extend(serviceAuth(source), { throwHttpErrors: false });
      const url = `${service.baseUrl}/api/v1/`;
      service.api.always({ status: 200 });
      const paused = service.api.pauseNext({ status: 401 });
      const slow = api(url);
      await paused.arrived;
      for (let count = 0; count < renewals; count++) {
        await source.invalidate(await source.getToken());
        await api(url);
      }
      invalidate.mockClear();
      paused.resume();
      const { statusCode } = await slow;
      return { statusCode, reported: invalidate.mock.calls.map(([{ id }]) => id) };
    }

    test('is handled after many of them', async () => {
      expect(await outlive(20)).toEqual({ statusCode: 200, reported: ['id-1'] });
    });
  });

  describe('an input that got refuses', () => {
    const inputs: [name: string, input: unknown, options?: unknown][] = [
      ['a number', 123],
      ['null', null],
      ['nothing', undefined],
      ['an empty string', ''],
      ['no address', 'not an address'],
      ['a protocol that is not spoken', 'ftp://127.0.0.1/'],
      ['an object', {}],
      ['an unknown option', 'http://127.0.0.1/', { unknown: true }],
      ['an option of a wrong type', 'http://127.0.0.1/', { method: 5 }],
      ['headers of a wrong type', 'http://127.0.0.1/', { headers: 'none' }],
      ['a body with a GET', 'http://127.0.0.1/', { body: 'text' }],
      ['a context of a wrong type', 'http://127.0.0.1/', { context: 5 }],
    ];
    type Input = [input: string, options: OptionsInit];
    type Ask = (api: Got, ...input: Input) => Promise<unknown>;
    const ways: [way: string, ask: Ask][] = [
      ['a promise', async (api, ...input) => api(...input)],
      // got 14 answers some with a promise.
      [
        'a stream',
        async (api, ...input) => {
          const stream = api.stream(...input);
          return 'toArray' in stream ? stream.toArray() : stream;
        },
      ],
    ];
    const cases = inputs.flatMap(([name, ...input]) =>
      ways.map(([way, ask]) => [name, way, ask, input as Input] as const),
    );

    test.each(cases)(
      '(%s, as %s) leads to the same error as without the token',
      async (_name, _way, ask, [input, options]) => {
        const factsOf = async (api: Got) => {
          const error = await ask(api, input, options).catch((reason: unknown) => reason);
          expect(error).toBeInstanceOf(Error);
          const { name, message, code, options: shown, cause } = error as RequestError;
          return { name, message, code, hasOptions: shown !== undefined, cause: String(cause) };
        };
        const plain = got.extend({ retry: { limit: 0 } });
        expect(await factsOf(plain.extend(serviceAuth(createEagerSource())))).toEqual(await factsOf(plain));
      },
    );
  });

  test('extended twice, it sends one token and reports a 401 as one', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const plugin = serviceAuth(auth);
    const url = `${service.baseUrl}/api/v1/`;
    for (const api of [got.extend(plugin, plugin), got.extend(plugin, serviceAuth(auth))]) {
      await api(url);
      expect(service.apiRequests.at(-1)?.bearer).toBe('valid');
    }
    service.revoke('all');
    const before = service.counts.apiRequests;
    expect((await got.extend(plugin).extend(plugin)(url)).statusCode).toBe(200);
    expect(service.counts).toMatchObject({ issued: 2, apiRequests: before + 2 });
    expect(auth.events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected', 'token_issued']);
  });

  test('two of them serve two APIs', async () => {
    const [one, two] = [await startService(), await startService({ clients: [otherClient] })];
    const api = got.extend(serviceAuth(createAuth(one)), serviceAuth(createAuth(two)));
    for (const service of [one, two]) {
      expect(await api(`${service.baseUrl}/api/v1/`).json()).toMatchObject({ bearer: 'valid' });
    }
  });

  test('{ context: { serviceAuth: false } } of an instance can be taken back by a request', async () => {
    const service = await startService();
    const plugin = serviceAuth(createAuth(service));
    const api = got.extend(plugin, { context: { serviceAuth: false }, throwHttpErrors: false });
    const url = `${service.baseUrl}/api/v1/`;
    expect((await api(url)).statusCode).toBe(401);
    expect((await api(url, { context: { serviceAuth: true } })).statusCode).toBe(200);
  });

  describe('an error', () => {
    test('of ours is the cause of one of got, which is not retried', async () => {
      const service = await startService();
      service.tokenEndpoint.always({ status: 503 });
      const response = got.extend(serviceAuth(createAuth(service)))(`${service.baseUrl}/api/v1/`);
      await expect(response).rejects.toMatchObject({
        name: 'RequestError',
        code: 'ERR_TOKEN_ENDPOINT',
        cause: { code: 'ERR_TOKEN_ENDPOINT', retryAt: expect.any(Number) },
      });
      expect(service.counts.tokenRequests).toBe(1);
    });

    test('of got does not show the token', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const url = `${service.baseUrl}/api/v1/`;
      service.api.always({ status: 404 });
      const printed = async (plugin: ExtendOptions) => {
        const error = await got
          .extend(plugin)(url)
          .catch((reason: unknown) => reason);
        expect(error).toMatchObject({ name: 'HTTPError' });
        return service.findSecrets(inspect(error, { depth: 9 }) + JSON.stringify(error));
      };
      expect(await printed(serviceAuth(auth))).toEqual([]);
    });
  });

  test('an abort that ends the wait for a token is an AbortError of got', async () => {
    const service = await startService();
    const paused = service.tokenEndpoint.pauseNext();
    const controller = new AbortController();
    const { signal } = controller;
    const response = got.extend(serviceAuth(createAuth(service)))(`${service.baseUrl}/api/v1/`, { signal });
    await paused.arrived;
    controller.abort();
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    paused.resume();
    expect(service.counts.apiRequests).toBe(0);
  });
});

const otherClient = {
  clientId: 'other',
  clientSecret: 'another-secret-of-no-value',
  audiences: ['https://other.example/'],
};

test('refuses a client without baseUrl at once', async () => {
  const service = await startService();
  expect(() => serviceAuth(createAuth(service, { baseUrl: undefined }))).toThrow(
    new TypeError(
      '[service-auth/got] This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.',
    ),
  );
});

test('sends each API the token of its own source of one client', async () => {
  const { service, auth, billing, urls, sent } = await startTwoApis();
  const api = newest.extend(serviceAuth(auth), serviceAuth(billing));
  await api(urls.orders);
  await api(urls.billing);
  expect(sent()).toEqual(['orders: orders', 'billing: billing']);
  expect(service.counts.issued).toBe(2);
});
