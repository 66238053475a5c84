import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createServiceAuth, fetchTransport, memoryStore } from '../src/index.ts';

// This does the same to the global fetch as Next.js, as far as it matters. Real Next.js of three versions: `pnpm check frameworks`.
const platformFetch = globalThis.fetch;
const platformDate = globalThis.Date;
const requests = new AsyncLocalStorage<{ readonly route: string }>();
let sent: { readonly by: 'next' | 'original'; readonly during: string | undefined }[] = [];

const answer = (by: 'next' | 'original') => async () => {
  sent.push({ by, during: requests.getStore()?.route });
  return new Response('{"access_token":"abc","token_type":"Bearer","expires_in":86400}', {
    headers: { 'content-type': 'application/json' },
  });
};

beforeEach(() => {
  sent = [];
  const patched = { __nextGetStaticStore: () => requests, _nextOriginalFetch: answer('original') };
  globalThis.fetch = Object.assign(answer('next'), patched);
});

afterEach(() => {
  globalThis.fetch = platformFetch;
  globalThis.Date = platformDate;
});

const options = { authUrl: 'https://auth.example.com', audience: 'a', clientId: 'c', clientSecret: 's' };

describe('in Next.js', () => {
  test('a token request is sent by the fetch that Next.js replaced, as a part of no request', async () => {
    const auth = createServiceAuth({ ...options, store: memoryStore() });
    await requests.run({ route: '/orders' }, () => auth.getToken());
    expect(sent).toEqual([{ by: 'original', during: undefined }]);
  });

  test('the fetch of Next.js that the application passes is seen through as well', async () => {
    const transport = fetchTransport({ fetch: globalThis.fetch });
    await createServiceAuth({ ...options, store: memoryStore(), transport }).getToken();
    expect(sent).toEqual([{ by: 'original', during: undefined }]);
  });

  test('no randomness is drawn during a request, not even for the events that begin there', async () => {
    const during: (string | undefined)[] = [];
    const { getRandomValues } = crypto;
    crypto.getRandomValues = (bytes) => {
      during.push(requests.getStore()?.route);
      return getRandomValues.call(crypto, bytes) as typeof bytes;
    };
    onTestFinished(() => {
      crypto.getRandomValues = getRandomValues;
    });
    const auth = createServiceAuth({ ...options, store: memoryStore() });
    auth.subscribe(() => {}, { operations: true });
    await requests.run({ route: '/orders' }, () => auth.getToken());
    expect(during.length).toBeGreaterThan(2);
    expect(new Set(during)).toEqual(new Set([undefined]));
  });

  test('the store is called as a part of no request, whatever the client is asked for', async () => {
    const store = memoryStore();
    const during = new Set<string | undefined>();
    const watched = {
      ...store,
      load: (key: string) => {
        during.add(requests.getStore()?.route);
        return store.load(key);
      },
      swap: (key: string, change: Parameters<typeof store.swap>[1]) => {
        during.add(requests.getStore()?.route);
        return store.swap(key, change);
      },
    };
    const auth = createServiceAuth({ ...options, store: watched });
    for (const ask of [auth.getToken, auth.getUsage, auth.reset]) await requests.run({ route: '/orders' }, () => ask());
    expect([...during]).toEqual([undefined]);
  });

  test('the caller itself goes on in its own request', async () => {
    const auth = createServiceAuth({ ...options, store: memoryStore() });
    const route = await requests.run({ route: '/orders' }, async () => {
      await auth.getToken();
      return requests.getStore()?.route;
    });
    expect(route).toBe('/orders');
  });

  test('the wall clock is never read during a request: it would end the prerendering of the page', async () => {
    const readDuring: unknown[] = [];
    globalThis.Date = class extends platformDate {
      static override now(): number {
        if (requests.getStore()) readDuring.push(requests.getStore());
        return platformDate.now();
      }
    } as DateConstructor;
    const auth = createServiceAuth({ ...options, store: memoryStore() });
    await requests.run({ route: '/orders' }, async () => {
      const token = await auth.getToken();
      await auth.getToken();
      auth.peekToken();
      await auth.invalidate(token);
      await auth.getUsage();
    });
    expect(readDuring).toEqual([]);
  });

  test('what another package put around that fetch is told that the request is no part of the page', async () => {
    const inits: unknown[] = [];
    const inner = globalThis.fetch;
    globalThis.fetch = async (url, init) => {
      inits.push({ ...init });
      return inner(url, init);
    };
    await createServiceAuth({ ...options, store: memoryStore() }).getToken();
    expect(inits).toEqual([expect.objectContaining({ next: { internal: true } })]);
  });
});

test('names of Next.js on a polluted prototype mean nothing', async () => {
  globalThis.fetch = answer('next');
  const poison = { __nextGetStaticStore: () => requests, _nextOriginalFetch: () => expect.fail('was called') };
  for (const [name, value] of Object.entries(poison)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true });
  }
  try {
    await createServiceAuth({ ...options, store: memoryStore() }).getToken();
  } finally {
    for (const name of Object.keys(poison)) Reflect.deleteProperty(Object.prototype, name);
  }
  expect(sent).toEqual([{ by: 'next', during: undefined }]);
});
