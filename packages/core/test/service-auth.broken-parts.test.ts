import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createUsageReader } from '../src/index.ts';
import { createBed, failure, hour, minute, second } from './support/bed.ts';
import type { Fault } from './support/faulty-store.ts';
import { answered } from './support/scripted-endpoint.ts';
import { watchForUnhandled } from './support/unhandled.ts';

describe('a transport whose status is no status', () => {
  const values = [-1, 1_000, 599.5, Number.NaN, 1e300, null, undefined, '503', '429', {}, 503n];
  test.each(values)('%s: the failure is counted, and the fleet goes on', async (status) => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(() => ({ ...answered(200), status: status as number }));
    const error = await failure('ERR_TOKEN_ENDPOINT', client().getToken());
    expect(error).toMatchObject({ endpointStatus: undefined, ambiguous: true });
    await clock.advance(minute);
    const other = client();
    await token(other);
    expect(await other.getUsage()).toMatchObject({ used: 2, pending: 1 });
  });

  test('a Retry-After that is a number is understood', async () => {
    const { client, clock, endpoint } = createBed();
    const headers = { 'retry-after': 600 as unknown as string };
    endpoint.next(() => ({ ...answered(429), headers }));
    const error = await failure('ERR_RATE_LIMITED', client().getToken());
    expect(error.retryAt).toBe(clock.now() + 10 * minute);
  });
});

describe('a record that nobody could read', () => {
  test('is not written: the store keeps what it has, and the others go on', async () => {
    const { client, clock, store, token } = createBed();
    const first = await token(client());
    const before = await store.text();
    // Further than any clock can show.
    store.aheadMs = 1e16;
    const error = await failure('ERR_STORE', clock.until(client({ audience: 'other' }).getToken()));
    expect(error.message).toContain('RangeError');
    expect(await store.text()).toBe(before);
    store.aheadMs = 0;
    expect((await token(client())).value).toBe(first.value);
  });
});

describe('a waitUntil() that fails, as those of runtimes do outside of requests', () => {
  test('keeps no token from a caller', async () => {
    const { client, clock, token } = createBed();
    let isOutside = false;
    const waitUntil = () => {
      if (isOutside) throw new Error('outside of a request');
    };
    const auth = client({ waitUntil });
    const first = await token(auth);
    isOutside = true;
    await clock.advance(26 * second);
    expect(await token(auth)).toBe(first);
    await clock.advance(30 * hour);
    expect((await token(auth)).value).not.toBe(first.value);
  });

  test.each([
    ['a promise that rejects', async () => expect.unreachable()],
    ['a promise of another realm that rejects', () => runInNewContext('Promise.reject(1)')],
    ['a thenable whose then throws', () => runInNewContext("({ then() { throw new Error('from then') } })")],
  ])('may return %s', async (_, waitUntil) => {
    const unhandled = watchForUnhandled();
    const { client, token } = createBed();
    expect((await token(client({ waitUntil }))).value).toBeTruthy();
    expect(await unhandled()).toEqual([]);
  });
});

describe('every call ends', () => {
  /** Reads by a clock that is behind that of writes, as one of a replica may be. */
  const behind: Fault = async (call) => {
    const answer = (await call()) as { now: number };
    return { ...answer, now: answer.now - 15 * second } as never;
  };

  test('when the store replaces nothing and says so', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.always('swap', () => Promise.resolve({ swapped: false, now: clock.now() } as never));
    await failure('ERR_STORE', clock.until(client().getToken()));
    expect(endpoint.requests.length).toBe(0);
    await failure('ERR_STORE', clock.until(client().reset()));
  });

  test('when the outcome of a request cannot be entered: the token is served', async () => {
    const { client, clock, store, endpoint } = createBed();
    const auth = client();
    store.next('swap', (call) => call());
    store.always('swap', () => Promise.resolve({ swapped: false, now: clock.now() } as never));
    await clock.until(auth.getToken());
    expect(endpoint.requests.length).toBe(1);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
    store.always('swap');
    await clock.advance(3 * minute);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
  });

  test('when the clocks of reading and writing differ: no request is sent late, and attempts are paced', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.always('load', behind);
    await failure('ERR_TOKEN_ENDPOINT', clock.until(client().getToken()));
    expect(endpoint.requests.length).toBe(0);
    expect(store.calls.swap).toBeLessThan(600);
  });

  test('when the store shows what it had before the last swap', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    await token(auth);
    const old = await store.text();
    const now = clock.now();
    await clock.until(auth.reset());
    store.always('load', () => Promise.resolve({ record: old, version: 'old', now } as never));
    await failure('ERR_STORE', clock.until(auth.getToken()));
    expect(store.calls.load).toBeLessThan(300);
  });
});

describe('a store of an application', () => {
  test.each([null, 5, {}, [{}, null], undefined])('with the warnings %j has none', async (warnings) => {
    const { client, clock, eventsOf, store, token } = createBed();
    const odd: Fault = async (call) => ({ ...(await call()), warnings });
    store.always('load', odd);
    const auth = client();
    await token(auth);
    expect((await auth.getUsage()).warnings).toEqual([]);
    const reader = createUsageReader({ authUrl: 'https://auth.example.com', clientId: 'client-1', store, clock });
    expect((await reader.getUsage()).warnings).toEqual([]);
    expect(eventsOf('store_warning')).toEqual([]);
  });

  test('with other warnings each time is not reported without end', async () => {
    const { client, eventsOf, store } = createBed();
    let reads = 0;
    store.always('load', async (call) => {
      reads += 1;
      return { ...(await call()), warnings: [`${reads} % of the memory is used`] };
    });
    const auth = client();
    for (let count = 0; count < 40; count += 1) await auth.getUsage();
    expect(eventsOf('store_warning')).toHaveLength(16);
  });
});

describe('WebCrypto that fails', () => {
  const failed = new DOMException('once', 'OperationError');
  afterEach(() => void vi.restoreAllMocks());

  test.each(['importKey', 'deriveKey', 'deriveBits'] as const)(
    'once at %s fails one call with ERR_STORE, and none after it',
    async (operation) => {
      const { client, clock, endpoint, token } = createBed();
      const auth = client();
      vi.spyOn(crypto.subtle, operation).mockRejectedValueOnce(failed);
      const error = await failure('ERR_STORE', auth.getToken());
      expect([error.message, error.retryAt]).toEqual([expect.stringContaining('OperationError'), clock.now() + second]);
      expect(endpoint.requests).toHaveLength(0);
      await token(auth);
      expect(await auth.getUsage()).toMatchObject({ used: 1, unknown: 0 });
    },
  );

  test('once fails one call of a reader of the usage with ERR_STORE, and none after it', async () => {
    const { client, clock, store, token } = createBed();
    await token(client());
    const reader = createUsageReader({ authUrl: 'https://auth.example.com', clientId: 'client-1', store, clock });
    vi.spyOn(crypto.subtle, 'digest').mockRejectedValueOnce(failed);
    await failure('ERR_STORE', reader.getUsage());
    expect(await reader.getUsage()).toMatchObject({ used: 1, unknown: 0 });
  });

  test('once while it seals a token: the token is shared all the same', async () => {
    const { client, endpoint, token } = createBed();
    vi.spyOn(crypto.subtle, 'encrypt').mockRejectedValueOnce(failed);
    const first = await token(client());
    expect((await token(client())).value).toBe(first.value);
    expect(endpoint.issued).toBe(1);
  });

  test('each time it seals a token: the process that got it uses it, and it is counted', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    vi.spyOn(crypto.subtle, 'encrypt').mockRejectedValue(failed);
    const first = await token(auth);
    expect(await auth.getUsage()).toMatchObject({ used: 1, unknown: 0, underWay: 0 });
    await clock.advance(minute);
    expect(await token(auth)).toBe(first);
    vi.restoreAllMocks();
    // Nobody else can open it, so a second one is issued, and all use that one.
    const second = await token(client());
    expect((await token(client())).value).toBe(second.value);
    expect(endpoint.issued).toBe(2);
  });
});
