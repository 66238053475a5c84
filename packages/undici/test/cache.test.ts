import { inspect } from 'node:util';
import { createAuth, startForeign, startService } from '@service-auth/test-support/service';
import type { Dispatcher } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serviceAuthInterceptor } from '../src/index.ts';
import { copies } from './copies.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;

const { 'undici 6.18': oldest, ...withCache } = copies;

test('undici 6 has no cache', () => {
  expect(oldest?.interceptors).not.toHaveProperty('cache');
});

const types = ['shared', 'private'] as const;
const statuses = [200, 301, 404];
const policies: [policy: string, headers: Record<string, string>][] = [
  ['max-age', { 'cache-control': 'max-age=60' }],
  ['must-understand', { 'cache-control': 'max-age=60, must-understand, x-public' }],
  ['private', { 'cache-control': 'private, max-age=60', vary: 'accept' }],
  ['private with must-revalidate', { 'cache-control': 'private, max-age=60, must-revalidate' }],
  ['Expires', { expires: new Date(Date.now() + 3_600_000).toUTCString() }],
  ['nothing but a date', { 'last-modified': new Date(Date.now() - 8_640_000_000).toUTCString(), etag: '"1"' }],
];
const answers = statuses.flatMap((status) => policies.map(([policy, headers]) => [status, policy, headers] as const));

describe.each(Object.entries(withCache))('with the cache of %s', (_, { Agent, interceptors, cacheStores, request }) => {
  describe.each(types)('of type %s', (type) => {
    async function start(status: number, headers: Record<string, string>) {
      const service = await startService();
      // The body tells the credentials: `valid` for our token, `invalid` for the token of a user, `none` without a token.
      service.api.always(({ bearer }) => ({ status, headers, body: bearer }));
      const agent = new Agent();
      onTestFinished(() => agent.destroy());
      const store = new cacheStores.MemoryCacheStore();
      const entries: unknown[] = [];
      const createWriteStream = store.createWriteStream.bind(store);
      store.createWriteStream = (key, value) => {
        entries.push({ key, value });
        return createWriteStream(key, value);
      };
      const cache = interceptors.cache({ type, store, cacheByDefault: 60 });
      const ours = serviceAuthInterceptor(createAuth(service));
      const get = (interceptors: Interceptor[], authorization?: string) =>
        request(`${service.baseUrl}/api/v1/`, {
          dispatcher: agent.compose(...interceptors),
          headers: authorization ? { authorization } : {},
        }).then(({ body }) => body.text());
      return { service, cache, ours, get, entries, secrets: () => service.findSecrets(inspect(entries, { depth: 9 })) };
    }

    describe.each(answers)('an answer %d cacheable by %s', (status, _, headers) => {
      test('to a request with the token is not stored by a cache outside', async () => {
        const { cache, ours, get } = await start(status, headers);
        expect(await get([ours, cache])).toBe('valid');
        expect(await get([ours, cache], 'Bearer own')).toBe('invalid');
        expect(await get([cache])).not.toBe('valid');
      });
    });

    test.each(['public, max-age=60', 'max-age=60, Must-Revalidate', 'max-age=1,s-maxage=60'])(
      'an answer that the API declares as %s reaches the caller with its own Vary, and a cache outside stores it',
      async (policy) => {
        const { service, cache, ours, get, entries } = await start(200, { 'cache-control': policy, vary: 'accept' });
        expect([await get([ours, cache]), await get([ours, cache])]).toEqual(['valid', 'valid']);
        expect(service.counts.apiRequests).toBe(1);
        expect(inspect(entries, { depth: 9 })).toContain("vary: 'accept'");
      },
    );

    test.each(statuses)('an answer %d without the token is stored: the cache works', async (status) => {
      const { service, cache, get } = await start(status, { 'cache-control': 'max-age=60' });
      expect([await get([cache]), await get([cache])]).toEqual(['none', 'none']);
      expect(service.counts.apiRequests).toBe(1);
    });

    test.each(statuses)(
      'an answer %d to a request with the token is stored by a cache inside only if it is public',
      async (status) => {
        const secret = await start(status, { 'cache-control': 'max-age=60' });
        expect(await secret.get([secret.cache, secret.ours])).toBe('valid');
        expect(await secret.get([secret.cache, secret.ours], 'Bearer own')).toBe('invalid');
        expect(await secret.get([secret.cache])).toBe('none');

        const shared = await start(status, { 'cache-control': 'public, max-age=60' });
        await shared.get([shared.cache, shared.ours]);
        await shared.get([shared.cache, shared.ours]);
        expect(shared.service.counts.apiRequests).toBe(1);
      },
    );

    describe.each(['accept', 'authorization', 'accept, authorization'])('a public answer that varies by %s', (vary) => {
      const headers = { 'cache-control': 'public, max-age=60', vary };

      test.each(['a cache alone', 'a cache and redirects'])(
        'is given to the store without the token if our interceptor is listed before %s',
        async (rest) => {
          const { cache, ours, get, secrets } = await start(200, headers);
          const composed = rest === 'a cache alone' ? [ours, cache] : [ours, cache, interceptors.redirect()];
          expect([await get(composed), await get(composed)]).toEqual(['valid', 'valid']);
          expect(secrets()).toEqual([]);
        },
      );

      test('is given to the store with the token if the cache is listed first: the README warns of it', async () => {
        const { cache, ours, get, secrets } = await start(200, headers);
        expect(await get([cache, ours])).toBe('valid');
        expect(secrets()).toEqual(['access token']);
      });
    });

    test('an answer after a redirect from the API is not served without the token if redirects are listed last', async () => {
      const { service, cache, ours, get, secrets } = await start(200, {});
      const foreign = await startForeign();
      const headers = { 'cache-control': 'public, max-age=60' };
      foreign.answers.always({ status: 200, headers, body: 'elsewhere' });
      service.api.next({ status: 302, headers: { 'cache-control': 'max-age=60', location: foreign.url } });
      const redirect = interceptors.redirect({ maxRedirections: 1 });
      expect(await get([ours, cache, redirect])).toBe('elsewhere');
      expect(await get([cache, redirect])).toBe('none');
      expect(secrets()).toEqual([]);
    });

    test('an answer without a token that an outer cache stored is requested again with the token once it is stale', async () => {
      const { service, cache, ours, get } = await start(200, { 'cache-control': 'max-age=60, no-cache', etag: '"1"' });
      expect(await get([cache])).toBe('none');
      service.api.next({ status: 304, headers: { etag: '"1"' }, body: '' });
      expect(await get([ours, cache])).toBe('valid');
    });
  });
});
