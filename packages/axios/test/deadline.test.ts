import { getEventListeners, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { isServiceAuthError } from '@service-auth/core';
import { serviceUnavailable } from '@service-auth/core/http';
import { createAuth, createEagerSource, startForeign, startService } from '@service-auth/test-support/service';
import type { AxiosError } from 'axios';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

describe.each(Object.entries(copies))('waiting for a token with %s', (_, axios) => {
  test('a signal ends the wait as axios cancels', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    const paused = service.tokenEndpoint.pauseNext();
    const controller = new AbortController();
    const response = rejectionOf(instance.get('/', { signal: controller.signal }));
    await paused.arrived;
    controller.abort();
    const error = await response;
    expect(error).toBeInstanceOf(axios.CanceledError);
    expect(error).toMatchObject({ code: 'ERR_CANCELED', config: { url: '/' } });
    expect(service.counts.apiRequests).toBe(0);
    paused.resume();
  });

  test('a cancelToken ends the wait with its own reason, and forgets the request afterwards', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    const { token, cancel } = axios.CancelToken.source();
    const paused = service.tokenEndpoint.pauseNext();
    const waiting = rejectionOf(instance.get('/', { cancelToken: token }));
    await paused.arrived;
    cancel('not needed any more');
    const error = await waiting;
    expect(axios.isCancel(error)).toBe(true);
    expect(error).toMatchObject({ message: 'not needed any more' });
    paused.resume();
    await instance.get('/');

    const { token: other } = axios.CancelToken.source();
    service.api.next({ status: 401 });
    await instance.get('/', { cancelToken: other });
    expect((other as unknown as { _listeners: unknown[] | undefined })._listeners ?? []).toEqual([]);
  });

  test('a signal or a cancelToken ends the wait that follows a 401', async () => {
    for (const kind of ['signal', 'cancelToken']) {
      const service = await startService();
      const instance = createInstance(axios, service, createAuth(service));
      await instance.get('/');
      service.revoke('all');
      const paused = service.tokenEndpoint.pauseNext();
      const controller = new AbortController();
      const { token, cancel } = axios.CancelToken.source();
      const option = kind === 'signal' ? { signal: controller.signal } : { cancelToken: token };
      const response = rejectionOf(instance.get('/', option));
      await paused.arrived;
      kind === 'signal' ? controller.abort() : cancel();
      expect(axios.isCancel(await response)).toBe(true);
      expect(service.counts.apiRequests).toBe(2);
      paused.resume();
    }
  });

  test('axios’s timeout ends the wait as axios times out', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, { timeout: 20 });
    const paused = service.tokenEndpoint.pauseNext();
    const error = (await rejectionOf(instance.get('/'))) as AxiosError;
    expect(error).toBeInstanceOf(axios.AxiosError);
    expect(error).toMatchObject({ message: 'timeout of 20ms exceeded', code: 'ECONNABORTED', config: { url: '/' } });
    const clarified = instance.get('/', {
      transitional: { clarifyTimeoutError: true },
      timeoutErrorMessage: 'too late',
    });
    expect(await rejectionOf(clarified)).toMatchObject({ message: 'too late', code: 'ETIMEDOUT' });
    instance.interceptors.request.use(({ transitional: _, ...config }) => config as never);
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ code: 'ECONNABORTED' });
    expect(service.counts.apiRequests).toBe(0);
    paused.resume();
    await auth.getToken();
    expect((await instance.get('/', { timeout: 0 })).status).toBe(200);
    expect(service.counts.issued).toBe(1);
  });

  test('axios’s timeout has a cause that says what the request waited for, and by which it is recognised', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const instance = createInstance(axios, service, auth, { timeout: 500 });
    const paused = service.tokenEndpoint.pauseNext();
    const error = (await rejectionOf(instance.get('/', { signal: new AbortController().signal }))) as AxiosError;
    expect(error).toMatchObject({ message: 'timeout of 500ms exceeded', code: 'ECONNABORTED' });
    expect(error.cause).toMatchObject({ code: 'ERR_TOKEN_PENDING', waitsFor: 'token_endpoint' });
    expect(error.cause?.message).toMatch(
      /: the token endpoint has not answered for 0\.[0-9] s\. The attempt goes on\./,
    );
    expect(serviceUnavailable(error)).toEqual({ status: 503, headers: {} });
    expect(auth.events).toMatchObject([{ type: 'token_unavailable', code: 'ERR_TOKEN_PENDING', count: 1 }]);
    paused.resume();
    await auth.getToken();
    const slow = service.api.pauseNext();
    expect(((await rejectionOf(instance.get('/'))) as AxiosError).cause).toBeUndefined();
    slow.resume();
  });

  test('axios’s timeout has the same cause while the request waits for another token after a 401', async () => {
    const service = await startService();
    const auth = createAuth(service);
    await auth.getToken();
    service.revoke('all');
    const paused = service.tokenEndpoint.pauseNext();
    const error = await rejectionOf(createInstance(axios, service, auth, { timeout: 500 }).get('/'));
    expect(error).toMatchObject({ code: 'ECONNABORTED', cause: { code: 'ERR_TOKEN_PENDING' } });
    paused.resume();
  });

  test('what the wait took, or a first request, is missing from the timeout of what follows', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(9_000);
    const service = await startService();
    const auth = createAuth(service);
    const sent: unknown[] = [];
    const instance = createInstance(axios, service, auth, {
      timeout: 5_000,
      validateStatus: null,
      async adapter(config) {
        sent.push([config.timeout, config.timeoutErrorMessage]);
        vi.advanceTimersByTime(1_000);
        return { status: sent.length === 1 ? 401 : 200, statusText: '', headers: {}, data: '', config };
      },
    });
    const paused = service.tokenEndpoint.pauseNext();
    const response = instance.get('/');
    await paused.arrived;
    vi.advanceTimersByTime(2_000);
    paused.resume();
    await response;
    await instance.get('/');
    expect(sent).toEqual([
      [3_000, 'timeout of 5000ms exceeded'],
      [2_000, 'timeout of 5000ms exceeded'],
      [5_000, undefined],
    ]);
  });

  test.each([
    ['a first request also counts if the next token was cached', 1_000, 4_000],
    ['a timeout that a first request used up is a short one for the second, not none', 6_000, 1],
  ])('%s', async (_title, took, left) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const sent: unknown[] = [];
    const instance = axios.create({
      timeout: 5_000,
      timeoutErrorMessage: 'too late',
      validateStatus: null,
      async adapter(config) {
        sent.push([config.timeout, config.timeoutErrorMessage]);
        vi.advanceTimersByTime(took);
        return { status: 401, statusText: '', headers: {}, data: '', config };
      },
    });
    attachServiceAuth(instance, createEagerSource());
    await instance.get('/');
    expect(sent).toEqual([
      [5_000, 'too late'],
      [left, 'too late'],
    ]);
  });

  test('a wait that times out sends nothing, to no proxy either', async () => {
    const service = await startService();
    const elsewhere = await startForeign();
    vi.stubEnv('http_proxy', elsewhere.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const instance = createInstance(axios, service, createAuth(service), { timeout: 20 });
    const paused = service.tokenEndpoint.pauseNext();
    expect(await rejectionOf(instance.get('/'))).toBeInstanceOf(axios.AxiosError);
    expect(elsewhere.requests).toEqual([]);
    paused.resume();
  });

  test('a signal is no longer listened to when the wait is over', async () => {
    const { signal } = new AbortController();
    const instance = axios.create({
      adapter: async (config) => ({ status: 200, statusText: '', headers: {}, data: '', config }),
    });
    attachServiceAuth(instance, { ...createEagerSource(), peekToken: () => undefined });
    await instance.get('/', { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect((await instance.get('/', { signal: { aborted: false } })).status).toBe(200);
  });

  test('a request that was aborted meanwhile does not begin to wait', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    const controller = new AbortController();
    await instance.get('/');
    const paused = service.tokenEndpoint.pauseNext();
    const response = instance.get('/', {
      signal: controller.signal,
      validateStatus: null,
      async adapter(config) {
        controller.abort();
        return { status: 401, statusText: '', headers: {}, data: '', config };
      },
    });
    expect(axios.isCancel(await rejectionOf(response))).toBe(true);
    paused.resume();
  });

  test('a ServiceAuthError comes through with its code, and nothing is sent', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    service.tokenEndpoint.always({ status: 503 });
    const error = await rejectionOf(instance.get('/'));
    expect(isServiceAuthError(error) && error.code).toBe('ERR_TOKEN_ENDPOINT');
    expect(axios.isAxiosError(error)).toBe(false);
    expect(service.counts.apiRequests).toBe(0);
  });
});

describe.each(Object.entries(copies))(
  'a stream that fails while its request waits for a token, with %s',
  (_, axios) => {
    const failing = Object.assign(new Error('gone'), { code: 'ENOENT' });
    test.each([
      ['fails', failing, { code: 'ENOENT', message: 'gone', cause: failing }],
      ['is destroyed', undefined, { code: 'ERR_CANCELED' }],
    ])('%s: the call rejects, and nothing goes unhandled', async (_name, error, expected) => {
      const service = await startService();
      const instance = createInstance(axios, service, createAuth(service));
      const paused = service.tokenEndpoint.pauseNext();
      const body = new PassThrough();
      const response = rejectionOf(instance.post('/', body));
      await paused.arrived;
      body.destroy(error);
      await once(body, 'close').catch(() => {});
      paused.resume();
      expect(await response).toMatchObject(expected);
      expect(service.counts).toMatchObject({ issued: 1, apiRequests: 0 });
    });
  },
);
