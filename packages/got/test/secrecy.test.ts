import { once } from 'node:events';
import { Agent } from 'node:http';
import { inspect } from 'node:util';
import { createAuth, startService } from '@service-auth/test-support/service';
import type { ExtendOptions, Got, OptionsInit, RequestError } from 'got';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serviceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

type TestService = Awaited<ReturnType<typeof startService>>;

/** Everything that somebody who logs an error may print, the chain of its causes included. */
function printed(error: unknown): string {
  const texts = [inspect(error, { depth: Number.POSITIVE_INFINITY, getters: true })];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    texts.push(String(cause), String(cause.stack), JSON.stringify(cause), inspect({ ...cause }, { depth: 9 }));
  }
  return texts.join('\n');
}

type Send = (
  api: Got,
  url: string,
  options: { signal?: AbortSignal; timeout?: { request: number } },
) => Promise<unknown>;

const ways: Record<string, Send> = {
  'a promise': (api, url, options) => api.get(url, options),
  'a stream': async (api, url, options) => api.stream.get(url, options).toArray(),
};

const failures: Record<
  string,
  (service: TestService, send: (options?: object) => Promise<unknown>) => Promise<unknown>
> = {
  'an API that answers 401': (service, send) => {
    service.api.always({ status: 401 });
    return send();
  },
  'an API that answers 500': (service, send) => {
    service.api.always({ status: 500 });
    return send();
  },
  'a broken connection': (service, send) => {
    service.api.always({ cut: 'answer' });
    return send();
  },
  'a timeout': (service, send) => {
    service.api.pauseNext();
    return send({ timeout: { request: 200 } });
  },
  'the timeout of a signal': (service, send) => {
    service.api.pauseNext();
    return send({ signal: AbortSignal.timeout(200) });
  },
  'an abort': async (service, send) => {
    const paused = service.api.pauseNext();
    const controller = new AbortController();
    const response = send({ signal: controller.signal });
    await Promise.race([paused.arrived, response]);
    controller.abort();
    return response;
  },
  'redirects without an end': (service, send) => {
    service.api.always({ status: 302, headers: { location: '/api/v1/' } });
    return send();
  },
};

test('an error of cancel(), which got 14 has, shows no token', async () => {
  const got = copies['got 14.5'] as Got;
  const shown = async (failures: number) => {
    const service = await startService();
    const retry = { limit: 1, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 };
    const api = got.extend(serviceAuth(createAuth(service)), { retry });
    for (let count = 0; count < failures; count++) service.api.next({ status: 503 });
    const paused = service.api.pauseNext();
    const response = api.get(`${service.baseUrl}/api/v1/`);
    const failed = response.catch((reason: unknown) => printed(reason));
    await paused.arrived;
    (response as unknown as { cancel(): void }).cancel();
    const text = await failed;
    expect(text).toContain('CancelError');
    return service.findSecrets(text as string);
  };
  expect([await shown(0), await shown(1)]).toEqual([[], []]);
});

describe.each(Object.entries(copies))('an error of %s', (_, got) => {
  test('shows no token through an agent of the application, which leads to all requests under way', async () => {
    const service = await startService();
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const api = got.extend(serviceAuth(createAuth(service)), { agent: { http: agent }, retry: { limit: 0 } });
    const paused = service.api.pauseNext();
    const other = api.get(`${service.baseUrl}/api/v1/`);
    await paused.arrived;
    service.api.next({ status: 500 });
    const error = await api.get(`${service.baseUrl}/api/v1/`).catch((reason) => reason);
    expect(error).toMatchObject({ name: 'HTTPError', options: { agent: { http: agent } } });
    expect(service.findSecrets(printed(error))).toEqual([]);
    paused.resume();
    await other;
  });

  test('shows no token of a request that waits in the queue of an agent', async () => {
    const service = await startService();
    const agent = new Agent({ maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const api = got.extend(serviceAuth(createAuth(service)), { agent: { http: agent }, retry: { limit: 0 } });
    const get = () => api.get(`${service.baseUrl}/api/v1/`);
    service.api.next({ status: 500 });
    const paused = service.api.pauseNext();
    const failed = get().catch((reason) => reason);
    const others = [get(), get()];
    const error = await failed;
    expect(error).toMatchObject({ name: 'HTTPError', options: { agent: { http: agent } } });
    expect(Object.values(agent.requests).flat()).toHaveLength(1);
    expect(service.findSecrets(printed(error))).toEqual([]);
    paused.resume();
    await Promise.all(others);
  });

  test.each([200, 401])('for an answer %d that is no JSON shows no token', async (status) => {
    const shown = async () => {
      const service = await startService();
      const api = got.extend(serviceAuth(createAuth(service)), { throwHttpErrors: false });
      service.api.always({ status, body: 'text' });
      const error = await api
        .get(`${service.baseUrl}/api/v1/`)
        .json()
        .catch((reason) => reason);
      expect(error).toMatchObject({ name: 'ParseError' });
      return service.findSecrets(printed(error));
    };
    expect(await shown()).toEqual([]);
  });

  test('for a stream that the application destroys shows no token', async () => {
    const shown = async () => {
      const service = await startService();
      const paused = service.api.pauseNext();
      const api = got.extend(serviceAuth(createAuth(service)));
      const stream = api.stream(`${service.baseUrl}/api/v1/`);
      const failed = once(stream, 'error');
      await paused.arrived;
      stream.destroy(new Error('enough'));
      const [error] = await failed;
      expect(error).toMatchObject({ message: 'enough' });
      return service.findSecrets(printed(error));
    };
    expect(await shown()).toEqual([]);
  });

  describe.each(Object.entries(ways))('of %s', (_, send) => {
    test.each(Object.entries(failures))('for %s shows no token', async (_, fail) => {
      const shown = async () => {
        const service = await startService();
        const auth = createAuth(service);
        await auth.getToken();
        const api = got.extend(serviceAuth(auth), { retry: { limit: 0 } });
        const url = `${service.baseUrl}/api/v1/`;
        const error = await fail(service, (options = {}) => send(api, url, options)).then(
          () => expect.fail('it did not fail'),
          (reason: unknown) => reason,
        );
        expect(service.counts.apiRequests).toBeGreaterThan(0);
        return service.findSecrets(printed(error));
      };
      expect(await shown()).toEqual([]);
    });
  });

  describe('has the Authorization of the application, for its beforeError hook to redact', () => {
    const own = { authorization: 'Bearer own' };

    async function seenByHooks(
      compose: (plugin: ExtendOptions, application: ExtendOptions) => Got,
      options: OptionsInit,
    ) {
      const service = await startService();
      const seen: unknown[] = [];
      const beforeError = [
        (error: RequestError) => {
          seen.push(error.options.headers['authorization']);
          return error;
        },
      ];
      const api = compose(serviceAuth(createAuth(service)), { hooks: { beforeError }, retry: { limit: 0 } });
      service.api.always({ status: 500 });
      const error: RequestError = await api.get(`${service.baseUrl}/api/v1/`, options).then(
        () => expect.fail('it did not fail'),
        (reason) => reason,
      );
      expect(error).toMatchObject({ name: 'HTTPError' });
      return [...seen, error.options.headers['authorization']];
    }

    test.each<[order: string, compose: Parameters<typeof seenByHooks>[0]]>([
      ['listed before ours', (plugin, application) => got.extend(application, plugin)],
      ['listed after ours', (plugin, application) => got.extend(plugin, application)],
    ])('%s', async (_, compose) => {
      expect(await seenByHooks(compose, { headers: own })).toEqual([own.authorization, own.authorization]);
      const { signal } = new AbortController();
      expect(await seenByHooks(compose, { headers: own, signal })).toEqual([own.authorization, own.authorization]);
      const basic = `Basic ${btoa('user:password')}`;
      const named = { username: 'user', password: 'password' };
      expect(await seenByHooks(compose, named)).toEqual([basic, basic]);
    });
  });
});
