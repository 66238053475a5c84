import { Agent } from 'node:http';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { createAuth, startService } from '@service-auth/test-support/service';
import type { TestService } from '@service-auth/testing';
import newestAxios, { type AxiosInstance, type AxiosRequestConfig, type AxiosStatic } from 'axios';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

/** Everything that somebody could print of an error, the chain of its causes included. */
function printed(error: unknown): string {
  const texts = [inspect(error, { depth: Number.POSITIVE_INFINITY })];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    texts.push(String(cause), cause.message, String(cause.stack), JSON.stringify(cause), JSON.stringify({ ...cause }));
  }
  return texts.join('\n');
}

const failures: Record<string, (service: TestService, instance: AxiosInstance) => Promise<unknown>> = {
  'an API that answers 401': (service, instance) => {
    service.api.always({ status: 401 });
    return instance.get('/');
  },
  'an API that answers 500 to a body': (service, instance) => {
    service.api.always({ status: 500 });
    return instance.post('/', { x: 1 });
  },
  'an API that answers 500 to who wants a stream': (service, instance) => {
    service.api.always({ status: 500 });
    return instance.get('/', { responseType: 'stream' });
  },
  'an API that answers 500 to a stream': (service, instance) => {
    service.api.always({ status: 500 });
    return instance.post('/', Readable.from(['text']));
  },
  'a stream that is too long': (_service, instance) => {
    return instance.post('/', Readable.from([Buffer.alloc(100_000)]), { maxBodyLength: 1 });
  },
  'a broken connection': (service, instance) => {
    service.api.always({ cut: 'answer' });
    return instance.get('/');
  },
  'a timeout': (service, instance) => {
    service.api.pauseNext();
    return instance.get('/', { timeout: 20 });
  },
  'a cancellation': async (service, instance) => {
    const paused = service.api.pauseNext();
    const controller = new AbortController();
    const response = instance.get('/', { signal: controller.signal });
    await Promise.race([paused.arrived, response]);
    controller.abort();
    return response;
  },
  'redirects without an end': (service, instance) => {
    service.api.always({ status: 302, headers: { location: '/api/v1/' } });
    return instance.get('/');
  },
  'an answer that is no JSON': (service, instance) => {
    service.api.always({ body: 'text' });
    return instance.get('/', { responseType: 'json', transitional: { silentJSONParsing: false } });
  },
  'an answer that is too long': (_service, instance) => instance.get('/', { maxContentLength: 1 }),
  'a token endpoint that fails': (service, instance) => {
    service.revoke('all');
    service.tokenEndpoint.always({ status: 401, body: '{"error":"invalid_client"}' });
    return instance.get('/');
  },
};

const clients: [name: string, axios: AxiosStatic, defaults: AxiosRequestConfig][] = [
  ...Object.entries(copies).map(([name, axios]): [string, AxiosStatic, AxiosRequestConfig] => [name, axios, {}]),
  ['the fetch adapter', newestAxios, { adapter: 'fetch' }],
];

describe.each(clients)('secrets with %s', (_, axios, defaults) => {
  test.each(Object.entries(failures))('%s shows none', async (_name, fail) => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    await instance.get('/');
    const error = await rejectionOf(fail(service, instance));
    expect(service.findSecrets(printed(error))).toEqual([]);
  });

  test('neither a response nor its configuration shows the token, nor does the JSON of an error', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    const response = await instance.get('/');
    expect(service.findSecrets(inspect(response, { depth: 20 }))).toEqual([]);
    expect(service.findSecrets(inspect(response.config, { depth: 20, showHidden: true }))).toEqual([]);
    service.api.always({ status: 500 });
    const error = await rejectionOf(instance.get('/'));
    expect(service.findSecrets(inspect(Reflect.get(error as object, 'config'), { depth: 20 }))).toEqual([]);
    expect(service.findSecrets(JSON.stringify(error))).toEqual([]);
  });

  test('an error still has its request, which contains the token and is not printed', async () => {
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service), defaults);
    service.api.always({ status: 500 });
    const error = (await rejectionOf(instance.get('/'))) as { request: unknown; response: { request: unknown } };
    expect(service.findSecrets(inspect(error.request, { depth: 5 }))).toEqual(['access token']);
    expect(error.response.request).toBe(error.request);
  });
});

test.each(Object.entries(copies))(
  'an agent, which leads to all requests under way, shows no secret with %s',
  async (_, axios) => {
    const service = await startService();
    const httpAgent = new Agent({ keepAlive: true });
    onTestFinished(() => httpAgent.destroy());
    const instance = createInstance(axios, service, createAuth(service), { httpAgent });
    const paused = service.api.pauseNext();
    const other = instance.get('/');
    await paused.arrived;
    service.api.next({ status: 500 });
    const error = await rejectionOf(instance.get('/'));
    expect(error).toMatchObject({ config: { httpAgent } });
    expect(service.findSecrets(printed(error))).toEqual([]);
    paused.resume();
    await other;
  },
);

test.each(Object.entries(copies))(
  'an agent with a queue shows no secret of the requests that wait in it, with %s',
  async (_, axios) => {
    const service = await startService();
    const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => httpAgent.destroy());
    const instance = createInstance(axios, service, createAuth(service), { httpAgent });
    await instance.get('/');
    const paused = service.api.pauseNext({ status: 500 });
    const failing = rejectionOf(instance.get('/'));
    await paused.arrived;
    const queued = [instance.get('/'), instance.get('/')];
    await vi.waitUntil(() => Object.values(httpAgent.requests).flat().length === 2, 20_000);
    paused.resume();
    const error = await failing;
    // One has the connection by now, the other one waits.
    expect(service.findSecrets(inspect(httpAgent.requests, { depth: 5 }))).toEqual(['access token']);
    expect(service.findSecrets(printed(error))).toEqual([]);
    await Promise.all(queued);
  },
);

test.each([
  [{}, ['authorization']],
  [{ redact: ['x-own'] }, ['authorization', 'x-own']],
])(
  'an error that a streamed body ends with has the token in its request, but not in its JSON: %o',
  async (own, all) => {
    const service = await startService();
    const instance = createInstance(newestAxios, service, createAuth(service));
    const { data } = await instance.get('/', { responseType: 'stream', maxContentLength: 1, ...own });
    const error = await rejectionOf(data.toArray());
    expect(error).toMatchObject({ isAxiosError: true, config: { redact: all } });
    expect(service.findSecrets(JSON.stringify(error))).toEqual([]);
  },
);
