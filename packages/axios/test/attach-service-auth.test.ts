import { createServiceAuth } from '@service-auth/core';
import { serviceUnavailable } from '@service-auth/core/http';
import { createAuth, startService, startTwoApis } from '@service-auth/test-support/service';
import { startForeignOrigin } from '@service-auth/testing';
import globalAxios, { type AxiosInstance } from 'axios';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

const bearers = (service: { apiRequests: readonly { bearer: string }[] }): string[] =>
  service.apiRequests.map(({ bearer }) => bearer);

/** The request interceptors that an instance has, by axios's own count. */
function interceptorsOf(instance: AxiosInstance): number {
  let count = 0;
  const manager = instance.interceptors.request as unknown as { forEach(visit: () => void): void };
  manager.forEach(() => {
    count += 1;
  });
  return count;
}

describe.each(Object.entries(copies))('attachServiceAuth with %s', (_, axios) => {
  test('serves shorthand methods and the instance as a function', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get('/a', { params: { q: 'x y' } });
    await instance.post('/b', { x: 1 });
    await instance('/c');
    await instance({ url: '/d', method: 'delete' });
    expect(service.apiRequests.map(({ method, path, bearer }) => `${method} ${path} ${bearer}`)).toEqual([
      'GET /api/v1/a?q=x+y valid',
      'POST /api/v1/b valid',
      'GET /api/v1/c valid',
      'DELETE /api/v1/d valid',
    ]);
  });

  test('leaves instances alone that are created from the attached one', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), { validateStatus: null });
    await instance.create().get('/');
    expect(bearers(service)).toEqual(['none']);
  });

  test('attached twice is attached once, and either end ends it', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, { validateStatus: null });
    const detach = attachServiceAuth(instance, auth);
    expect(interceptorsOf(instance)).toBe(1);
    service.api.always({ status: 401 });
    await instance.get('/');
    expect(service.apiRequests).toHaveLength(2);
    expect(auth.events.filter(({ type }) => type === 'token_rejected')).toHaveLength(2);
    detach();
    expect(interceptorsOf(instance)).toBe(0);
  });

  test('a 401 that rejects the token says so in its cause, and one of a request without the token does not', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get('/');
    service.revoke('all');
    service.tokenEndpoint.always({ status: 503 });
    const rejected = await rejectionOf(instance.get('/'));
    expect(rejected).toMatchObject({ response: { status: 401 }, cause: { code: 'ERR_TOKEN_REJECTED' } });
    expect(serviceUnavailable(rejected)).toMatchObject({ status: 503 });
    expect(serviceUnavailable(await rejectionOf(instance.get('/', { serviceAuth: false })))).toBeUndefined();
  });

  test('detaching leaves the instance as it was, and may be repeated', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1`, validateStatus: null });
    const before = { ...instance.defaults };
    const keys = Reflect.ownKeys(instance);
    const detach = attachServiceAuth(instance, auth);
    await instance.get('/');
    detach();
    detach();
    await instance.get('/');
    expect(bearers(service)).toEqual(['valid', 'none']);
    expect(instance.defaults).toEqual(before);
    expect(Reflect.ownKeys(instance)).toEqual(keys);
    expect(interceptorsOf(instance)).toBe(0);
    attachServiceAuth(instance, auth);
    detach();
    await instance.get('/');
    expect(bearers(service).at(-1)).toBe('valid');
  });

  test('a request without a token leaves as soon as it would without us, with the configuration the caller gets', async () => {
    const service = await startService();
    const received: unknown[] = [];
    const instance = createInstance(axios, service, createAuth(service), {
      async adapter(config) {
        received.push(config);
        return { status: 200, statusText: '', headers: {}, data: '', config };
      },
    });
    const response = instance.get('/', { serviceAuth: false });
    expect(received).toHaveLength(1);
    expect((await response).config).toBe(received[0]);
  });

  test('a request whose adapter an interceptor took out is sent by that of axios', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    instance.interceptors.request.use(({ adapter: _, ...config }) => config as never);
    expect((await instance.get('/')).status).toBe(200);
    expect(bearers(service)).toEqual(['valid']);
  });

  test.each([new Error('of the adapter'), 'a text', null])(
    'what an adapter rejects with stays as it is: %o',
    async (reason) => {
      const service = await startService();
      const adapter = () => Promise.reject(reason);
      const instance = createInstance(axios, service, createAuth(service), { adapter });
      expect(await rejectionOf(instance.get('/'))).toBe(reason);
      expect(Reflect.ownKeys(Object(reason))).toEqual(Reflect.ownKeys(Object(structuredClone(reason))));
    },
  );

  test('a configuration that went through it can be sent again after detaching, without a token', async () => {
    const service = await startService();
    const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1`, validateStatus: null });
    const detach = attachServiceAuth(instance, createAuth(service));
    const { config } = await instance.get('/');
    detach();
    await instance.request(config);
    expect(bearers(service)).toEqual(['valid', 'none']);
  });

  test('of several clients each serves its own API', async () => {
    const [one, two] = [await startService(), await startService()];
    const instance = axios.create();
    attachServiceAuth(instance, createAuth(one));
    const detachTwo = attachServiceAuth(instance, createAuth(two));
    await instance.get(`${one.baseUrl}/api/v1/`);
    await instance.get(`${two.baseUrl}/api/v1/`);
    expect([bearers(one), bearers(two)]).toEqual([['valid'], ['valid']]);
    detachTwo();
    await instance.get(`${one.baseUrl}/api/v1/`);
    await instance.get(`${two.baseUrl}/api/v1/`, { validateStatus: null });
    expect([bearers(one), bearers(two)]).toEqual([
      ['valid', 'valid'],
      ['valid', 'none'],
    ]);
  });

  test('of several clients that cover a URL the one attached first serves it', async () => {
    const service = await startService();
    const [first, second] = [createAuth(service), createAuth(service)];
    const instance = createInstance(axios, service, first);
    attachServiceAuth(instance, second);
    await instance.get('/');
    expect(first.events.map(({ type }) => type)).toEqual(['token_issued']);
    expect(second.events).toEqual([]);
  });

  test('judges where a request really goes, whatever interceptors before and after it did', async () => {
    const service = await startService();
    await using foreign = await startForeignOrigin();
    const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1` });
    const rewrite = (name: string) => (config: { url?: string; baseURL?: string }) => {
      if (config.url === name) Object.assign(config, { url: `${foreign.url}/${name}` });
      return config as never;
    };
    instance.interceptors.request.use(rewrite('before'));
    attachServiceAuth(instance, createAuth(service));
    instance.interceptors.request.use(rewrite('after'));
    await instance.get('/');
    await instance.get('before');
    await instance.get('after');
    expect(foreign.requests.map(({ path }) => path)).toEqual(['/before', '/after']);
    expect(service.findSecrets(foreign.received)).toEqual([]);
    expect(bearers(service)).toEqual(['valid']);
  });

  test('interceptors and transformations run once for a request that is sent twice', async () => {
    const service = await startService();
    const runs: string[] = [];
    const note =
      (name: string) =>
      <Value>(value: Value): Value => {
        runs.push(name);
        return value;
      };
    const instance = axios.create({
      baseURL: `${service.baseUrl}/api/v1`,
      transformRequest: [note('transformRequest'), (data) => `<${data}>`],
      transformResponse: [note('transformResponse')],
    });
    instance.interceptors.request.use(note('request'));
    instance.interceptors.response.use(note('response'));
    attachServiceAuth(instance, createAuth(service));
    instance.interceptors.request.use(note('request'));
    instance.interceptors.response.use(note('response'));
    service.api.next({ status: 401 });
    expect((await instance.post('/', 'body')).status).toBe(200);
    expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['<body>', '<body>']);
    expect(runs).toEqual(['request', 'request', 'transformRequest', 'transformResponse', 'response', 'response']);
  });

  test('what an interceptor took out of a request stays out', async () => {
    const service = await startService();
    const defaults = { headers: { 'x-default': '1' }, params: { default: '1' } };
    const instance = createInstance(axios, service, createAuth(service), defaults);
    instance.interceptors.request.use((config) => {
      config.headers.delete('x-default');
      delete config.params;
      return config;
    });
    await instance.get('/');
    expect(service.apiRequests).toMatchObject([{ path: '/api/v1/', bearer: 'valid' }]);
    expect(service.apiRequests[0]?.headers).not.toHaveProperty('x-default');
  });

  test.each([
    [null, 'none'],
    [false, 'none'],
    ['', 'invalid'],
    [' ', 'invalid'],
    ['Bearer own', 'invalid'],
  ])('an Authorization of %o is left as it is, and only false is no mistake', async (value, bearer) => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, { validateStatus: null });
    const defaults = { baseURL: instance.defaults.baseURL as string, validateStatus: null };
    const withDefault = axios.create({ ...defaults, headers: { common: { authorization: value as never } } });
    attachServiceAuth(withDefault, auth);
    await instance.get('/', { headers: { Authorization: value } as never });
    await instance.get('/', { headers: { aUTHORIZATION: value } as never });
    await withDefault.get('/');
    expect(service.counts.tokenRequests).toBe(0);
    expect(bearers(service)).toEqual([bearer, bearer, bearer]);
    expect(auth.events.map(({ type }) => type)).toEqual(value === false ? [] : ['token_bypassed']);
  });

  test('an Authorization of undefined is none', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get('/', { headers: { authorization: undefined } as never });
    expect(bearers(service)).toEqual(['valid']);
  });

  test("user name and password in `auth` are the request's credentials", async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), { validateStatus: null });
    await instance.get('/', { auth: { username: 'user', password: 'password' } });
    expect(bearers(service)).toEqual(['invalid']);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('a request can opt out, and so can an instance', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), { validateStatus: null, serviceAuth: false });
    await instance.get('/');
    await instance.get('/', { serviceAuth: true });
    expect(bearers(service)).toEqual(['none', 'valid']);
  });

  test('an absolute URL that is to stay under the base URL goes there, with the token', async () => {
    const service = await startService();
    await using foreign = await startForeignOrigin();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get(`${foreign.url}/x`, { allowAbsoluteUrls: false });
    await instance.get('//x', { allowAbsoluteUrls: false });
    await instance.get(`${foreign.url}/y`, { allowAbsoluteUrls: false, adapter: axios.getAdapter('http') });
    expect(foreign.requests).toEqual([]);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
      `/api/v1/${foreign.url}/x valid`,
      '/api/v1/x valid',
      `/api/v1/${foreign.url}/y valid`,
    ]);
  });

  test('an address that begins with // is that of another host', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await rejectionOf(instance.get('//127.0.0.1:1/x'));
    expect(service.counts).toMatchObject({ tokenRequests: 0, apiRequests: 0 });
  });

  test.each(['find/http://elsewhere.example', 'a//b'])('%s is a path', async (path) => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get(path);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([`/api/v1/${path} valid`]);
  });

  test('raw spaces in a path or query do no harm', async () => {
    const service = await startService();
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/a%20b` });
    const instance = createInstance(axios, service, auth);
    await instance.get('/a b?c=d e');
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual(['/api/v1/a%20b?c=d%20e valid']);
  });

  test('a base URL with slashes at its end, or none and absolute URLs, is as good as any', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const baseURL = `${service.baseUrl}/api/v1////`;
    await createInstance(axios, service, auth, { baseURL }).get('/');
    await createInstance(axios, service, auth, { baseURL }).get('');
    await createInstance(axios, service, auth, { baseURL }).request({});
    await createInstance(axios, service, auth, { baseURL: '' }).get(`${service.baseUrl}/api/v1/`);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
      '/api/v1/ valid',
      '/api/v1//// valid',
      '/api/v1//// valid',
      '/api/v1/ valid',
    ]);
  });

  test('a 401 to an Authorization of the request says so in its cause, wherever that was set', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth);
    const reports = () => auth.events.filter(({ type }) => type === 'token_bypassed').length;
    const silent = [
      { serviceAuth: false, headers: { Authorization: 'Bearer own' } },
      { headers: { Authorization: false } },
    ];
    for (const config of silent) expect(await rejectionOf(instance.get('/', config))).not.toHaveProperty('cause');
    expect(reports()).toBe(0);
    const message = expect.stringContaining('had an Authorization of its own, so it was sent without the token');
    const own = { auth: { username: 'own', password: 'own' } };
    const headers = ['Bearer own', '', ' ', null].map((authorization) => ({ headers: { authorization } as never }));
    for (const config of [...headers, own]) {
      const error = await rejectionOf(instance.get('/', config));
      expect(error).toMatchObject({ response: { status: 401 }, cause: { message } });
      expect(serviceUnavailable(error)).toBeUndefined();
    }
    instance.defaults.headers.common['Authorization'] = 'Bearer default';
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ cause: { message } });
    delete instance.defaults.headers.common['Authorization'];
    instance.interceptors.request.use((config) => {
      config.headers.Authorization = 'Bearer left in';
      return config;
    });
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ cause: { message } });
    service.api.next({ status: 404 });
    expect(await rejectionOf(instance.get('/'))).not.toHaveProperty('cause');
    expect(reports()).toBe(1);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('a 401 without a token says in its cause why there was none', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service, { baseUrl: `${service.baseUrl}/other` }));
    const error = await rejectionOf(instance.get('/items?key=x'));
    expect(error).toBeInstanceOf(axios.AxiosError);
    expect((error as Error).cause).toMatchObject({
      message: `[service-auth] No token was sent to ${service.baseUrl}/api/v1/items: no attached client covers it. The option baseUrl of createServiceAuth, or SERVICE_BASE_URL, has to be the address of the API.`,
    });
    expect(Object.getOwnPropertyDescriptor(error, 'cause')).toMatchObject({
      enumerable: false,
      configurable: true,
      writable: true,
    });
    const others = [
      { serviceAuth: false },
      { headers: { Authorization: 'Bearer own' } },
      { headers: { Authorization: false } },
    ];
    for (const config of others) expect(await rejectionOf(instance.get('/', config))).not.toHaveProperty('cause');
    service.api.next({ status: 404 });
    expect(await rejectionOf(instance.get('/'))).not.toHaveProperty('cause');
    service.api.next({ cut: 'answer' });
    expect(await rejectionOf(instance.get('/'))).toBeInstanceOf(axios.AxiosError);
    const nowhere = axios.create({
      adapter: async (config) => Promise.reject(Object.assign(new Error('401'), { response: { status: 401, config } })),
    });
    attachServiceAuth(nowhere, createAuth(service));
    const { cause } = (await rejectionOf(nowhere.get('/relative'))) as Error;
    expect(cause).toMatchObject({ message: expect.stringContaining('No token was sent to that URL: no attached') });
  });
});

test('the process-wide instance can be served as any other', async () => {
  const service = await startService();
  onTestFinished(attachServiceAuth(globalAxios, createAuth(service)));
  await globalAxios.get(`${service.baseUrl}/api/v1/`);
  expect(bearers(service)).toEqual(['valid']);
});

test('two copies of this package attach one client once', async () => {
  vi.resetModules();
  const copy = await import('../src/index.ts');
  expect(copy.attachServiceAuth).not.toBe(attachServiceAuth);
  const service = await startService();
  const auth = createAuth(service);
  const instance = createInstance(globalAxios, service, auth, { validateStatus: null });
  const detach = copy.attachServiceAuth(instance, auth);
  expect(interceptorsOf(instance)).toBe(1);
  // Other versions of this package have to find it under the same name.
  expect(Reflect.ownKeys(instance)).toContain(Symbol.for('@service-auth/axios'));
  detach();
  await instance.get('/');
  expect(bearers(service)).toEqual(['none']);
});

const auth = createServiceAuth({
  authUrl: 'https://auth.example.com',
  baseUrl: 'https://api.example.com',
  audience: 'https://api.example.com/',
  clientId: 'client',
  clientSecret: 'secret',
});

test.each([
  ['nothing, as of axios.create() of a mocked module', undefined],
  ['a mock of the whole module', { create() {}, interceptors: { request: undefined } }],
  ['an instance made by hand', { get() {}, interceptors: globalAxios.interceptors }],
  ['something else', {}],
])('refuses %s as an instance at once', (_, instance) => {
  expect(() => attachServiceAuth(instance as never, auth)).toThrow(
    new TypeError(
      '[service-auth/axios] The first argument of attachServiceAuth must be an axios instance, not a mock of one.',
    ),
  );
});

test.each([undefined, {}, globalAxios])('refuses %o as a client at once', (auth) => {
  expect(() => attachServiceAuth(globalAxios.create(), auth as never)).toThrow(
    new TypeError('[service-auth/axios] `auth` must be a client of createServiceAuth.'),
  );
});

test('refuses a client without baseUrl at once', async () => {
  const service = await startService();
  expect(() => attachServiceAuth(globalAxios.create(), createAuth(service, { baseUrl: undefined }))).toThrow(
    new TypeError(
      '[service-auth/axios] This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.',
    ),
  );
});

test('one instance sends each API the token of its own source of one client', async () => {
  const { service, auth, billing, urls, sent } = await startTwoApis();
  const instance = createInstance(globalAxios, service, auth);
  const detach = attachServiceAuth(instance, billing);
  await Promise.all([urls.orders, urls.billing, urls.billing].map((url) => instance.get(url)));
  expect(sent().toSorted()).toEqual(['billing: billing', 'billing: billing', 'orders: orders']);
  detach();
  await instance.get(urls.billing);
  expect(sent().at(-1)).toBe('billing: undefined');
  expect(service.counts.issued).toBe(2);
});
