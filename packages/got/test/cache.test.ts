import { createAuth, startForeign, startService } from '@service-auth/test-support/service';
import type { Got, OptionsInit } from 'got';
import { describe, expect, test } from 'vitest';
import { serviceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

type Headers = Record<string, string>;

const ways: Record<string, (api: Got, url: string, options: OptionsInit) => Promise<unknown>> = {
  'a promise': (api, url, options) => api.get(url, options),
  'a stream': async (api, url, options) => api.stream.get(url, options as object).toArray(),
};

const policies: [policy: string, headers: Headers][] = ['accept-encoding', 'authorization'].flatMap((vary) =>
  ['public, max-age=60', 'must-revalidate, max-age=60', 's-maxage=60'].map((policy): [string, Headers] => [
    `${policy}; vary: ${vary}`,
    { 'cache-control': policy, vary },
  ]),
);

const publicAnswer: Headers = { 'cache-control': 'public, max-age=60', vary: 'accept-encoding' };

describe.each(Object.entries(copies))('the cache of %s', (_, got) => {
  async function start(headers: Headers) {
    const service = await startService();
    service.api.always({ status: 200, headers, body: 'text' });
    const cache = new Map<string, unknown>();
    const retry = { limit: 1, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 };
    const api = got.extend({ cache, retry }, serviceAuth(createAuth(service)));
    const stored = () => JSON.stringify([...cache]);
    return { service, api, cache, stored, url: `${service.baseUrl}/api/v1/` };
  }

  describe.each(Object.entries(ways))('for %s', (_, get) => {
    test.each(policies)('contains no token after an answer with %s', async (_, headers) => {
      const { service, api, stored, url } = await start(headers);
      await get(api, url, {});
      await get(api, url, { cacheOptions: { shared: false } });
      expect(service.findSecrets(stored())).toEqual([]);
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'valid']);
    });

    test('contains no token after a retry, a redirect, a 401 and a request with a signal', async () => {
      const { service, api, stored, url } = await start(publicAnswer);
      const send = (options: OptionsInit = {}) => get(api, url, options).catch(() => undefined);
      service.api.next({ status: 503 });
      await send();
      service.api.next({ status: 302, headers: { ...publicAnswer, location: '/api/v1/2' } });
      await send();
      service.api.next({ status: 401 });
      await send();
      await send({ signal: new AbortController().signal });
      expect(service.apiRequests.filter(({ bearer }) => bearer === 'valid').length).toBeGreaterThanOrEqual(5);
      expect(service.findSecrets(stored())).toEqual([]);
    });

    test('contains no token after a redirect from elsewhere', async () => {
      const { service, api, stored, url } = await start(publicAnswer);
      const foreign = await startForeign();
      foreign.answers.always({ status: 302, headers: { location: url } });
      await get(api, foreign.url, {});
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid']);
      expect(service.findSecrets(stored())).toEqual([]);
    });
  });

  test('is not used by the redirects after a request with the token', async () => {
    const { service, api, cache, url } = await start(publicAnswer);
    const foreign = await startForeign();
    foreign.answers.always({ status: 200, headers: publicAnswer, body: 'elsewhere' });
    service.api.next({ status: 302, headers: { location: foreign.url } });
    expect(await api.get(url).text()).toBe('elsewhere');
    expect(cache.size).toBe(0);
  });

  test('serves requests without the token, and none with it', async () => {
    const { service, api, cache, url } = await start(publicAnswer);
    const without = { context: { serviceAuth: false } };
    await api.get(url, without);
    await api.get(url, without);
    const own = { headers: { authorization: 'Bearer own' } };
    await api.get(`${url}own`, own);
    await api.get(`${url}own`, own);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
      '/api/v1/ none',
      '/api/v1/own invalid',
    ]);
    expect(cache.size).toBe(2);
    await api.get(url, {});
    expect(service.apiRequests.at(-1)?.bearer).toBe('valid');
  });
});
