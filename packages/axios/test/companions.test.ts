import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isServiceAuthError } from '@service-auth/core';
import { createAuth, createEagerSource, startService } from '@service-auth/test-support/service';
import newestAxios from 'axios';
import AxiosMockAdapter from 'axios-mock-adapter';
import axiosRetry from 'axios-retry';
import { describe, expect, onTestFinished, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

describe.each(Object.entries(copies))('axios-retry with %s', (_, axios) => {
  test.each(['before', 'after'])('attached %s it, retries carry the token, and none is used twice', async (order) => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1` });
    if (order === 'before') attachServiceAuth(instance, auth);
    axiosRetry(instance, { retries: 3 });
    if (order === 'after') attachServiceAuth(instance, auth);
    service.api.next({ status: 503 }, { status: 401 }, { status: 503 }, {});
    expect((await instance.get('/')).status).toBe(200);
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(Array(4).fill('valid'));
    const [first, second, third, fourth] = service.apiRequests.map(({ tokenId }) => tokenId);
    expect([second, fourth]).toEqual([first, third]);
    expect(third).not.toBe(first);
    expect(service.counts.issued).toBe(2);
  });

  test.each(['before', 'after'])(
    'attached %s it, a ServiceAuthError is not retried, because nothing was sent',
    async (order) => {
      const service = await startService();
      const auth = createAuth(service);
      for (const condition of [{}, { retryCondition: () => true }]) {
        const retries: unknown[] = [];
        const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1` });
        if (order === 'before') attachServiceAuth(instance, auth);
        axiosRetry(instance, { ...condition, retries: 3, onRetry: (_count, error) => void retries.push(error) });
        if (order === 'after') attachServiceAuth(instance, auth);
        service.tokenEndpoint.always({ status: 503 });
        expect(isServiceAuthError(await rejectionOf(instance.get('/')))).toBe(true);
        expect(retries).toEqual([]);
      }
      expect(service.counts).toMatchObject({ tokenRequests: 1, apiRequests: 0 });
    },
  );

  test('a request that is sent after its ServiceAuthError is retried as the application says', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth);
    const conditions: unknown[] = [];
    axiosRetry(instance, {
      retries: 3,
      retryCondition({ response }) {
        conditions.push(response?.status);
        return true;
      },
    });
    service.tokenEndpoint.next({ status: 401, body: '{"error":"invalid_client"}' });
    const { config } = (await rejectionOf(instance.get('/'))) as { config: object };
    await auth.retryNow();
    service.api.next({ status: 500 }, { status: 503 });
    expect((await instance.request(config)).status).toBe(200);
    expect(conditions).toEqual([500, 503]);
  });
});

describe.each(Object.entries(copies))('axios-mock-adapter with %s', (_, axios) => {
  test.each(['before', 'after'])(
    'attached %s it, mocks see what they are used to see, and the token',
    async (order) => {
      const service = await startService();
      const auth = createAuth(service);
      const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1` });
      if (order === 'before') attachServiceAuth(instance, auth);
      const mock = new AxiosMockAdapter(instance as never);
      if (order === 'after') attachServiceAuth(instance, auth);
      mock
        .onGet('/items')
        .replyOnce(401)
        .onGet('/items', { params: { page: 2 } })
        .reply(200, { items: [] });
      const { data, config } = await instance.get('/items', { params: { page: 2 } });
      expect(data).toEqual({ items: [] });
      expect(config.headers.has('authorization')).toBe(false);
      const [rejected, accepted, ...others] = mock.history['get'] ?? [];
      expect(others).toEqual([]);
      expect(accepted).toMatchObject({ url: '/items', baseURL: instance.defaults.baseURL });
      expect(accepted?.headers?.['Authorization']).toBe((await auth.getToken()).authorization);
      expect(rejected?.headers?.['Authorization']).not.toBe(accepted?.headers?.['Authorization']);
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 0 });
    },
  );

  test('its errors keep the cause they have', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service, { baseUrl: `${service.baseUrl}/other` }));
    new AxiosMockAdapter(instance as never).onAny().reply(401);
    const { cause } = (await rejectionOf(instance.get('/'))) as Error;
    expect(cause).toMatchObject({ message: 'Request failed with status code 401' });
  });

  test('requests that it lets pass are sent with the token, and restoring it restores the instance', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    const mock = new AxiosMockAdapter(instance as never, { onNoMatch: 'passthrough' });
    service.api.next({ status: 401 });
    await instance.post('/', { x: 1 });
    mock.restore();
    await instance.post('/', { x: 1 });
    expect(service.apiRequests.map(({ bearer, body }) => `${bearer} ${body.text}`)).toEqual(
      Array(3).fill('valid {"x":1}'),
    );
  });
});

describe.each(Object.entries(copies))('a wrapper that always brings a cancelToken, with %s', (_, axios) => {
  test('gets its responses, and cancels waits, while others go on', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    // The HttpService of NestJS does this for each subscription.
    const subscribe = (url: string) => {
      const { token, cancel } = axios.CancelToken.source();
      return { response: instance.get(url, { cancelToken: token }), unsubscribe: cancel };
    };
    const paused = service.tokenEndpoint.pauseNext();
    const [one, other] = [subscribe('/one'), subscribe('/other')];
    const error = rejectionOf(one.response);
    await paused.arrived;
    one.unsubscribe();
    expect(axios.isCancel(await error)).toBe(true);
    paused.resume();
    expect((await other.response).status).toBe(200);
    expect(service.apiRequests.map(({ path }) => path)).toEqual(['/api/v1/other']);
  });
});

test('HTTP/2 is spoken as before, with the token', async () => {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    received.push(`${request.httpVersion} ${request.headers.authorization} ${await text(request)}`);
    response.writeHead(received.length === 1 ? 401 : 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const http2Options = { sessionTimeout: 1 };
  const instance = newestAxios.create({ baseURL: `http://127.0.0.1:${port}`, httpVersion: 2, http2Options });
  attachServiceAuth(instance, createEagerSource());
  expect((await instance.post('/', 'body')).status).toBe(200);
  expect(received).toEqual(['2.0 Bearer token-1 body', '2.0 Bearer token-2 body']);
});
