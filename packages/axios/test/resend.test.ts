import { Readable } from 'node:stream';
import { createAuth, createEagerSource, startService } from '@service-auth/test-support/service';
import newestAxios, {
  type AxiosInstance,
  type AxiosRequestConfig,
  type AxiosStatic,
  type InternalAxiosRequestConfig,
} from 'axios';
import PackageFormData from 'form-data';
import { describe, expect, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

const clients: [name: string, axios: AxiosStatic, defaults: AxiosRequestConfig][] = [
  ...Object.entries(copies).map(([name, axios]): [string, AxiosStatic, AxiosRequestConfig] => [name, axios, {}]),
  ['the fetch adapter', newestAxios, { adapter: 'fetch' }],
];

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);

/** A form of the package form-data, with these values besides one of each kind that can be read again. */
function packageForm(...values: unknown[]): PackageFormData {
  const form = new PackageFormData();
  form.append('text', 'Grüße');
  form.append('number', 5);
  form.append('empty', '');
  form.append('file', Buffer.from(bytes), 'name.bin');
  form.append('own header', 'text', { header: `--${form.getBoundary()}\r\nx-own: header\r\n\r\n` });
  for (const value of values) form.append('value', value, { knownLength: 5 });
  return form;
}

const textOf = (body: Readable | ReadableStream): Promise<string> => new Response(body as never).text();

describe.each(clients)('a 401 with %s', (_, axios, defaults) => {
  test.each([
    ['a stream of Node', () => Readable.from(['chunk'])],
    ['a form of the package form-data with a stream', () => packageForm(Readable.from(['chunk']))],
    [
      'a form of the package form-data with a function that opens a stream',
      () => packageForm((open: (stream: Readable) => void) => open(Readable.from(['chunk']))),
    ],
  ])('%s is not sent again, and the next request has a new token', async (_kind, makeBody) => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    await instance.get('/');
    service.revoke('all');
    const body = makeBody();
    const error = await rejectionOf(instance.post('/', body, { headers: { 'content-type': 'text/plain' } }));
    expect(error).toMatchObject({ response: { status: 401 } });
    expect(service.counts.apiRequests).toBe(2);
    await instance.get('/');
    expect(service.counts.issued).toBe(2);
  });

  test.each([
    ['a typed array on a part of its buffer', () => new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
    ['a Buffer', () => Buffer.from('text')],
    ['an ArrayBuffer', () => new Uint8Array([1, 2]).buffer],
    ['nothing', () => undefined],
    ['null', () => null],
  ])('%s is sent again as it was', async (_kind, makeBody) => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    service.api.next({ status: 401 });
    await instance.post('/', makeBody(), { headers: { 'content-type': 'application/octet-stream' } });
    const [first, second, ...others] = service.apiRequests;
    expect(others).toEqual([]);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers).toEqual(first?.headers);
  });

  /** An adapter that remembers the bodies of its answers, and whether they were closed. */
  function createNotingAdapter() {
    const adapter = axios.getAdapter(defaults.adapter ?? 'http', defaults as never);
    const bodies: (Readable | ReadableStream)[] = [];
    return {
      bodies,
      async adapter(config: InternalAxiosRequestConfig) {
        const response = await adapter(config);
        bodies.push(response.data);
        return response;
      },
      async isClosed(body: Readable | ReadableStream | undefined) {
        return body instanceof Readable ? body.destroyed : (await body?.getReader().read())?.done;
      },
    };
  }

  test('the body of a streamed 401 is closed when the request is sent again', async () => {
    const service = await startService();
    const { adapter, bodies, isClosed } = createNotingAdapter();
    const streamed = { responseType: 'stream', validateStatus: null, adapter } as const;
    const instance = createInstance(axios, service, createAuth(service), streamed);
    service.api.next({ status: 401 });
    const { data } = await instance.get('/');
    expect(await textOf(data)).toContain('"bearer":"valid"');
    expect(bodies).toHaveLength(2);
    expect(await isClosed(bodies[0])).toBe(true);
  });

  test('the body of a streamed 401 is closed when the wait for another token is given up', async () => {
    const service = await startService();
    const { adapter, bodies, isClosed } = createNotingAdapter();
    const streamed = { responseType: 'stream', validateStatus: null, adapter } as const;
    const instance = createInstance(axios, service, createAuth(service), streamed);
    await instance.get('/', { responseType: 'text' });
    service.revoke('all');
    const paused = service.tokenEndpoint.pauseNext();
    const controller = new AbortController();
    const response = rejectionOf(instance.get('/', { signal: controller.signal }));
    await paused.arrived;
    controller.abort();
    expect(axios.isCancel(await response)).toBe(true);
    expect(await isClosed(bodies[1])).toBe(true);
    paused.resume();
  });

  test('a 401 that is delivered has its body', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), { ...defaults, validateStatus: null });
    service.api.always({ status: 401, body: 'no' });
    await instance.get('/');
    const { data } = await instance.get('/', { responseType: 'stream' });
    expect(await textOf(data)).toBe('no');
  });

  test('both rejections are reported when the second token is rejected as well', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, defaults);
    service.api.always({ status: 401 });
    await rejectionOf(instance.get('/'));
    const ids = auth.events.flatMap((event) => (event.type === 'token_rejected' ? [event.tokenId] : []));
    expect(new Set(ids).size).toBe(2);
    expect(service.counts.apiRequests).toBe(2);
  });

  test('a request is sent twice at most, however many tokens there are', async () => {
    const service = await startService();
    const instance = axios.create({ ...defaults, baseURL: `${service.baseUrl}/api/v1`, validateStatus: null });
    attachServiceAuth(instance, createEagerSource());
    expect((await instance.get('/')).status).toBe(401);
    expect(service.counts.apiRequests).toBe(2);
  });

  test('the error of a 401 is that of axios, with the configuration the caller knows', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    service.api.always({ status: 401, body: '{"error":"no"}', headers: { 'content-type': 'application/json' } });
    const error = await rejectionOf(instance.post('/', { x: 1 }, { headers: { 'x-own': '1' } }));
    expect(error).toBeInstanceOf(axios.AxiosError);
    expect(error).toMatchObject({
      message: 'Request failed with status code 401',
      config: { url: '/', method: 'post', data: '{"x":1}', baseURL: instance.defaults.baseURL },
      response: { status: 401, data: { error: 'no' } },
    });
    expect(Object.keys((error as { response: object }).response)).toContain('data');
  });
});

// On Node, axios makes a form of the package form-data of a plain object. Its fetch adapter sends the text "[object FormData]" in place of such a form.
describe.each(Object.entries(copies))('a 401 to a form of the package form-data with %s', (_, axios) => {
  type Send = (instance: AxiosInstance) => Promise<unknown>;
  const ways: [way: string, send: Send][] = [
    ['texts and buffers', (instance) => instance.post('/', packageForm())],
    [
      'another content type',
      (instance) => instance.put('/', packageForm(), { headers: { 'content-type': 'text/plain' } }),
    ],
    ['no field', (instance) => instance.post('/', new PackageFormData())],
    ['postForm', (instance) => instance.postForm('/', { name: 'value', list: [1, 2], bytes })],
    [
      'a header',
      (instance) => instance.post('/', { name: 'value' }, { headers: { 'Content-Type': 'multipart/form-data' } }),
    ],
  ];

  test.each(ways)('(%s) is followed by the same once more', async (_way, send) => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    await instance.get('/');
    service.revoke('all');
    await send(instance);
    const [, first, second, ...others] = service.apiRequests;
    expect([first?.bearer, second?.bearer, others]).toEqual(['revoked', 'valid', []]);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers).toEqual(first?.headers);
    expect(second?.headers['content-type']).toContain('boundary=');
  });

  test('after a redirect is followed by the last hop once more', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    service.api.next({ status: 307, headers: { location: '/api/v1/on' } }, { status: 401 });
    await instance.post('/', packageForm());
    const [first, second, third, ...others] = service.apiRequests;
    expect([first, second, third].map((request) => request?.path)).toEqual(['/api/v1/', '/api/v1/on', '/api/v1/on']);
    expect(others).toEqual([]);
    expect(third?.body).toEqual(first?.body);
    expect(third?.headers).toEqual(second?.headers);
  });
});

test('search parameters that nothing turned into a text are sent again as they were', async () => {
  const service = await startService();
  const instance = createInstance(newestAxios, service, createAuth(service), {
    adapter: 'fetch',
    transformRequest: [],
  });
  service.api.next({ status: 401 });
  await instance.post('/', new URLSearchParams({ x: '1' }));
  expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['x=1', 'x=1']);
});

test('a number is sent again by the fetch adapter', async () => {
  const service = await startService();
  const instance = createInstance(newestAxios, service, createAuth(service), { adapter: 'fetch' });
  service.api.next({ status: 401 });
  await instance.post('/', 5);
  expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['5', '5']);
});

test('a file is sent again as it was', async () => {
  const service = await startService();
  const instance = createInstance(newestAxios, service, createAuth(service));
  service.api.next({ status: 401 });
  await instance.post('/', new File(['text'], 'name', { type: 'text/plain' }));
  expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['text', 'text']);
});
