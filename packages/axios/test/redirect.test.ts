import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { createAuth, startService } from '@service-auth/test-support/service';
import { startForeignOrigin, type TestService } from '@service-auth/testing';
import newestAxios, { type AxiosInstance, type AxiosRequestConfig, type AxiosStatic } from 'axios';
import { describe, expect, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

const received = (service: TestService): string[] =>
  service.apiRequests.map(({ method, path, bearer }) => `${method} ${path} ${bearer}`);

const clients: [name: string, axios: AxiosStatic, defaults: AxiosRequestConfig][] = [
  ...Object.entries(copies).map(([name, axios]): [string, AxiosStatic, AxiosRequestConfig] => [name, axios, {}]),
  ['the fetch adapter', newestAxios, { adapter: 'fetch' }],
  ['the fetch adapter as a function', newestAxios, { adapter: newestAxios.getAdapter('fetch') }],
  ['the http adapter as a function', newestAxios, { adapter: newestAxios.getAdapter('http') }],
];

describe.each(clients)('redirects with %s', (name, axios, defaults) => {
  /** A client whose token may go to the items of the API only. */
  function connect(service: TestService): { instance: AxiosInstance; events: readonly { type: string }[] } {
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` });
    return {
      instance: createInstance(axios, service, auth, { ...defaults, validateStatus: null }),
      events: auth.events,
    };
  }

  test('within the origin no token leaves the path of baseUrl, and a 401 there does not reject it', async () => {
    const service = await startService();
    const { instance, events } = connect(service);
    service.api.next({ status: 302, headers: { location: '/api/v1/others' } });
    expect((await instance.get('/items/1')).status).toBe(401);
    expect(received(service)).toEqual(['GET /api/v1/items/1 valid', 'GET /api/v1/others none']);
    expect(events.map(({ type }) => type)).toEqual(['token_issued']);
  });

  test('a token that stayed behind is not fetched when the way leads back', async () => {
    const service = await startService();
    const { instance, events } = connect(service);
    service.api.next({ status: 302, headers: { location: '/api/v1/others' } });
    service.api.next({ status: 302, headers: { location: '/api/v1/items/2' } });
    expect((await instance.get('/items/1')).status).toBe(401);
    expect(received(service).slice(1)).toEqual(['GET /api/v1/others none', 'GET /api/v1/items/2 none']);
    expect(events.map(({ type }) => type)).toEqual(['token_issued']);
  });

  test('a redirect to a relative address within baseUrl keeps query and token, and drops params', async () => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.next({ status: 307, headers: { location: '2?from=1' } });
    const response = await instance.post('/items/1', { x: 1 }, { params: { first: true } });
    expect(response.status).toBe(200);
    expect(received(service)).toEqual(['POST /api/v1/items/1?first=true valid', 'POST /api/v1/items/2?from=1 valid']);
    expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['{"x":1}', '{"x":1}']);
    expect(service.apiRequests.map(({ headers }) => headers['content-type'])).toEqual(
      Array(2).fill('application/json'),
    );
  });

  test('a 303 turns a request with a body into a GET without one', async () => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.next({ status: 303, headers: { location: '/api/v1/items/2' } });
    const headers = {
      'content-length': '7',
      'content-encoding': 'identity',
      'content-language': 'en',
      'content-location': '/x',
    };
    await instance.put('/items/1', { x: 1 }, { headers });
    expect(received(service)).toEqual(['PUT /api/v1/items/1 valid', 'GET /api/v1/items/2 valid']);
    const [first, second] = service.apiRequests;
    expect(first).toMatchObject({ headers, body: { bytes: 7 } });
    expect(second).toMatchObject({ body: { bytes: 0 } });
    expect(Object.keys(second?.headers ?? {}).filter((name) => name.startsWith('content-'))).toEqual([]);
  });

  test.each([
    [301, 'post', 'GET', ''],
    [302, 'post', 'GET', ''],
    [307, 'post', 'POST', 'text'],
    [308, 'post', 'POST', 'text'],
    [302, 'put', 'PUT', 'text'],
    [303, 'head', 'HEAD', ''],
  ])('a %i turns %s into %s', async (status, method, next, text) => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.next({ status, headers: { location: '/api/v1/items/2' } });
    const data = method === 'head' ? undefined : 'text';
    await instance.request({ url: '/items/1', method, data, headers: { 'content-type': 'text/plain' } });
    expect(received(service)).toEqual([
      `${method.toUpperCase()} /api/v1/items/1 valid`,
      `${next} /api/v1/items/2 valid`,
    ]);
    expect(service.apiRequests[1]?.body.text).toBe(text);
  });

  test('after a 401 the last request of a redirect is sent again, and redirected on if it is', async () => {
    const service = await startService();
    const { instance } = connect(service);
    const redirect = (location: string) => ({ status: 302, headers: { location } });
    service.api.next(redirect('/api/v1/items/2'), { status: 401 }, redirect('/api/v1/items/3'));
    expect((await instance.get('/items/1', { params: { page: 1 } })).status).toBe(200);
    expect(received(service)).toEqual([
      'GET /api/v1/items/1?page=1 valid',
      'GET /api/v1/items/2 valid',
      'GET /api/v1/items/2 valid',
      'GET /api/v1/items/3 valid',
    ]);
  });

  test.each(['a string', 'a form', 'parameters'])('%s that was redirected is sent again as it was', async (kind) => {
    const service = await startService();
    const { instance } = connect(service);
    const form = new FormData();
    form.set('field', 'value');
    const bodies = { 'a string': 'text', 'a form': form, parameters: new URLSearchParams({ a: 'b' }) };
    service.api.next({ status: 307, headers: { location: '/api/v1/items/2' } }, { status: 401 });
    await instance.put('/items/1', bodies[kind as keyof typeof bodies], {
      headers: { 'x-own': '1', ...(kind === 'a form' && { 'content-type': 'multipart/form-data' }) },
    });
    const [first, second, third] = service.apiRequests.map(({ method, headers, body }) => {
      const boundary = /boundary=(.+)/.exec(headers['content-type'] ?? '')?.[1] ?? 'none';
      const { 'content-type': type, ...others } = headers;
      return { method, others, type: type?.replace(boundary, ''), text: body.text.replaceAll(boundary, '') };
    });
    expect(first?.text).not.toBe('');
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  test('a stream that a 303 left behind does not prevent the next request from being sent again', async () => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.next({ status: 303, headers: { location: '/api/v1/items/2' } }, { status: 401 });
    const body = new Blob(['text']).stream();
    const data = name.startsWith('the fetch') ? body : Readable.from(['text']);
    const response = await instance.post('/items/1', data, { headers: { 'content-type': 'text/plain' } });
    expect(response.status).toBe(200);
    expect(received(service)).toEqual([
      'POST /api/v1/items/1 valid',
      'GET /api/v1/items/2 valid',
      'GET /api/v1/items/2 valid',
    ]);
  });

  test('redirects are not followed where the application said so', async () => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.always({ status: 302, headers: { location: '/api/v1/items/2' } });
    expect((await instance.get('/items/1', { maxRedirects: 0 })).status).toBe(302);
    expect(received(service)).toEqual(['GET /api/v1/items/1 valid']);
  });

  test('redirects without an end are given up', async () => {
    const service = await startService();
    const { instance } = connect(service);
    service.api.always({ status: 302, headers: { location: '/api/v1/items/1' } });
    const error = await rejectionOf(instance.get('/items/1', { validateStatus: null }));
    expect(['ERR_NETWORK', 'ERR_FR_TOO_MANY_REDIRECTS']).toContain(Reflect.get(error as object, 'code'));
    expect(service.apiRequests.length).toBeLessThan(30);
  });
});

describe.each(Object.entries(copies))('redirects followed by the http adapter of %s', (_, axios) => {
  const lookup: LookupFunction = (_host, { all }, callback) =>
    all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);

  test('a subdomain of the API is another host', async () => {
    const service = await startService();
    const baseUrl = service.baseUrl.replace('127.0.0.1', 'api.test');
    const auth = createAuth(service, { baseUrl, allowInsecureHttp: true });
    const defaults = {
      baseURL: `${baseUrl}/api/v1`,
      lookup: lookup as never,
      validateStatus: null,
      proxy: false as const,
    };
    const instance = createInstance(axios, service, auth, defaults);
    service.api.next({ status: 302, headers: { location: `${baseUrl.replace('api.test', 'evil.api.test')}/api/v1/` } });
    expect((await instance.get('/')).status).toBe(401);
    expect(service.apiRequests.map(({ headers, bearer }) => `${headers['host']?.split(':')[0]} ${bearer}`)).toEqual([
      'api.test valid',
      'evil.api.test none',
    ]);
  });

  test('a beforeRedirect of the application still runs, and may bring an Authorization of its own', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, { validateStatus: null });
    service.api.next({ status: 302, headers: { location: '/api/v1/next' } });
    const beforeRedirect = (options: Record<string, Record<string, string>>) => {
      Object.assign(options['headers'] ?? {}, { Authorization: 'Bearer own' });
    };
    expect((await instance.get('/', { beforeRedirect })).status).toBe(401);
    expect(received(service)).toEqual(['GET /api/v1/ valid', 'GET /api/v1/next invalid']);
    expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
  });

  test('a beforeRedirect that leads elsewhere leads there without the token', async () => {
    const service = await startService();
    await using foreign = await startForeignOrigin();
    const instance = createInstance(axios, service, createAuth(service));
    service.api.next({ status: 302, headers: { location: '/api/v1/next' } });
    const beforeRedirect = (options: Record<string, unknown>) => {
      options['port'] = new URL(foreign.url).port;
    };
    await instance.get('/', { beforeRedirect });
    expect(foreign.requests).toHaveLength(1);
    expect(service.findSecrets(foreign.received)).toEqual([]);
  });
});

describe('redirects followed for the fetch adapter', () => {
  /** The result of axios itself, for a request with its own token. */
  const outcomeOf = async (response: Promise<{ status: number }>): Promise<unknown> =>
    response.then(
      ({ status }) => status,
      ({ name, code, message, response }) => ({ name, code, message, status: response?.status }),
    );

  const streamOf = (text: string) => new Blob([text]).stream();

  test.each<[name: string, redirect: { status: number; location?: string }, request: AxiosRequestConfig]>([
    ['a 21st redirect', { status: 302, location: '/api/v1/from' }, {}],
    ['a POST of a stream answered 301', { status: 301, location: '/api/v1/to' }, { method: 'post', data: 'stream' }],
    ['a POST of a stream answered 303', { status: 303, location: '/api/v1/to' }, { method: 'post', data: 'stream' }],
    ['a POST of a stream answered 307', { status: 307, location: '/api/v1/to' }, { method: 'post', data: 'stream' }],
    ['a redirect to data:', { status: 302, location: 'data:text/plain,x' }, {}],
    ['a redirect to http://[', { status: 302, location: 'http://[' }, {}],
    ['a redirect to ftp:', { status: 302, location: 'ftp://example.com/' }, {}],
    ['a redirect to nowhere', { status: 302 }, {}],
  ])('%s ends as without a token', async (_, { status, location }, { data, ...request }) => {
    const service = await startService();
    const bare = newestAxios.create({ baseURL: `${service.baseUrl}/api/v1`, adapter: 'fetch', validateStatus: null });
    const attached = createInstance(newestAxios, service, createAuth(service), bare.defaults as AxiosRequestConfig);
    service.api.always(({ path }) =>
      path === '/api/v1/from' ? { status, ...(location && { headers: { location } }) } : { status: 200 },
    );
    const headers = { 'content-type': 'text/plain' };
    const send = (instance: AxiosInstance) =>
      outcomeOf(instance.request({ url: '/from', headers, ...request, ...(data && { data: streamOf('text') }) }));
    const expected = await send(bare);
    const count = service.apiRequests.length;
    expect(await send(attached)).toEqual(expected);
    expect(service.apiRequests.length).toBe(2 * count);
  });

  test('to another origin neither the token nor what else is for one host goes along, even if the client covers both', async () => {
    const service = await startService();
    await using foreign = await startForeignOrigin();
    const source = { ...createAuth(service), covers: () => true };
    const told: string[][] = [];
    const fetchAdapter = newestAxios.getAdapter('fetch');
    const instance = newestAxios.create({
      baseURL: `${service.baseUrl}/api/v1`,
      adapter(config) {
        told.push(Object.keys(config.headers).map((name) => name.toLowerCase()));
        return fetchAdapter(config);
      },
    });
    attachServiceAuth(instance, source);
    service.api.next({ status: 302, headers: { location: `${foreign.url}/next` } });
    const headers = { cookie: 'a=b', 'proxy-authorization': 'Basic eDp5', host: 'api.example', 'x-own': '1' };
    await instance.get('/', { headers });
    expect(received(service)).toEqual(['GET /api/v1/ valid']);
    const bound = ['authorization', 'proxy-authorization', 'cookie', 'host'];
    expect(told).toEqual([expect.arrayContaining(['x-own', ...bound]), expect.arrayContaining(['x-own'])]);
    expect(told[1]?.filter((name) => bound.includes(name))).toEqual([]);
    const names = foreign.requests[0]?.rawHeaders.map((text) => text.toLowerCase());
    expect(names).toContain('x-own');
    expect(names?.filter((name) => bound.includes(name))).toEqual(['host']);
  });

  test.each([
    ['that is followed', '/api/v1/next', [200, 2]],
    ['that is refused', 'ftp://api.example/', ['ERR_NETWORK', 1]],
  ])('the body of a redirect %s is closed', async (_, location, outcome) => {
    const service = await startService();
    const bodies: ReadableStream[] = [];
    const fetchAdapter = newestAxios.getAdapter('fetch');
    const instance = createInstance(newestAxios, service, createAuth(service), {
      responseType: 'stream',
      async adapter(config) {
        const response = await fetchAdapter({ ...config, validateStatus: null });
        bodies.push(response.data);
        return response;
      },
    });
    service.api.next({ status: 302, headers: { location } });
    const ended = await instance.get('/').then(
      ({ status }) => status,
      ({ code }) => code,
    );
    expect([ended, bodies.length]).toEqual(outcome);
    expect(await bodies[0]?.getReader().read()).toMatchObject({ done: true });
  });

  test('after a 303 not even the adapter is told of a body, unless it was a GET', async () => {
    const service = await startService();
    const sent: (string | undefined)[] = [];
    const fetchAdapter = newestAxios.getAdapter('fetch');
    const instance = createInstance(newestAxios, service, createAuth(service), {
      adapter(config) {
        sent.push(
          Object.keys(config.headers)
            .filter((name) => /^content-l/i.test(name))
            .join(),
        );
        return fetchAdapter(config);
      },
    });
    const headers = { 'content-length': '0', 'content-language': 'en', 'content-location': '/x' };
    for (const method of ['post', 'get']) {
      service.api.next({ status: 303, headers: { location: '/api/v1/next' } });
      await instance.request({ url: '/', method, headers });
    }
    const all = Object.keys(headers).join();
    expect(sent).toEqual([all, '', all, all]);
  });

  test('to an address that is not ASCII', async () => {
    const service = await startService();
    const instance = createInstance(newestAxios, service, createAuth(service), { adapter: 'fetch' });
    service.api.next({ status: 302, headers: { location: '/api/v1/Grüße' } });
    await instance.get('/');
    expect(received(service)).toEqual(['GET /api/v1/ valid', 'GET /api/v1/Gr%C3%BC%C3%9Fe valid']);
  });

  test.each(['manual', 'error'])('fetchOptions with redirect: %s stay as they are', async (redirect) => {
    const service = await startService();
    const instance = createInstance(newestAxios, service, createAuth(service), {
      adapter: 'fetch',
      fetchOptions: { redirect },
      validateStatus: null,
    });
    service.api.always({ status: 302, headers: { location: '/api/v1/next' } });
    const outcome = await instance.get('/').catch((error) => error);
    expect(redirect === 'manual' ? outcome.status : outcome.code).toBe(redirect === 'manual' ? 302 : 'ERR_NETWORK');
    expect(service.apiRequests).toHaveLength(1);
  });
});

describe.each(clients)('two clients on one instance with %s', (_, axios, defaults) => {
  test('a redirect from the API of one to that of the other carries no token of either', async () => {
    const [one, other] = [await startService(), await startService()];
    const instance = createInstance(axios, one, createAuth(one), { ...defaults, validateStatus: null });
    attachServiceAuth(instance, createAuth(other));
    one.api.next({ status: 302, headers: { location: `${other.baseUrl}/api/v1/` } });
    expect((await instance.get('/')).status).toBe(401);
    expect(received(other)).toEqual(['GET /api/v1/ none']);
    expect(other.counts.tokenRequests).toBe(0);
  });

  test('a 401 of either API has no cause that says that no token was sent', async () => {
    const [one, other] = [await startService(), await startService()];
    const instance = createInstance(axios, one, createAuth(one), defaults);
    attachServiceAuth(instance, createAuth(other));
    for (const service of [one, other]) {
      service.api.always({ status: 401 });
      const error = await rejectionOf(instance.get(`${service.baseUrl}/api/v1/`));
      expect(String(Reflect.get(error as object, 'cause'))).not.toMatch(/No token was sent/);
      expect(service.counts.apiUnauthorized).toBeGreaterThan(0);
    }
  });
});
