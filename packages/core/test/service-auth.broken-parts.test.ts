import { describe, expect, test } from 'vitest';
import { createBed, failure, hour, minute, second } from './support/bed.ts';
import type { Fault } from './support/faulty-store.ts';
import { answered } from './support/scripted-endpoint.ts';

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

describe('a waitUntil() that throws, as runtimes do outside of requests', () => {
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
