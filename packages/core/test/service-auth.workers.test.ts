import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Clock, createServiceAuth } from '../src/index.ts';
import { createBed, day, failure, minute, second } from './support/bed.ts';
import { hangs } from './support/faulty-store.ts';
import { type ManualClock, settled } from './support/manual-clock.ts';
import { failing, gated, silent } from './support/scripted-endpoint.ts';

/** The clock of a worker's requests: a timer ends together with its request. */
function requestClock(clock: ManualClock): Clock & { endRequest(): void } {
  let request = { alive: true };
  return {
    ...clock,
    setTimer(callback, delayMs, options) {
      const own = request;
      return clock.setTimer(() => own.alive && callback(), delayMs, options);
    },
    endRequest() {
      request.alive = false;
      request = { alive: true };
    },
  };
}

/** Keeps what it is given, as a runtime does. */
function lifeline() {
  const work: Promise<unknown>[] = [];
  return { work, waitUntil: (promise: Promise<unknown>) => void work.push(promise) };
}

describe('where I/O ends with the request that began it', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('callers wait for each other through the record: one request, one token', async () => {
    const { client, clock, endpoint } = createBed('process');
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client({ waitUntil: lifeline().waitUntil });
    const callers = Promise.all(Array.from({ length: 20 }, () => auth.getToken()));
    await clock.advance(second);
    release();
    const tokens = await clock.until(callers);
    expect(new Set(tokens).size).toBe(1);
    expect(endpoint.requests.length).toBe(1);
  });

  test('a request that is gone keeps no caller waiting longer than its lease', async () => {
    const { client, clock, endpoint } = createBed('process');
    const own = requestClock(clock);
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const auth = client({ clock: own });
    endpoint.next(silent);
    void auth.getToken();
    await settled();
    own.endRequest();
    const startedAt = clock.monotonic();
    const token = await clock.until(auth.getToken());
    expect(token.value).toContain('.');
    expect(clock.monotonic() - startedAt).toBeGreaterThan(55 * second);
    expect(clock.monotonic() - startedAt).toBeLessThan(65 * second);
    expect(await auth.getUsage()).toMatchObject({ used: 2, pending: 1 });
  });

  test('a token that arrived is kept if its request is gone before the record has it: the next request writes it', async () => {
    const { client, clock, endpoint, store, token } = createBed('process');
    const own = requestClock(clock);
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const auth = client({ clock: own });
    store.next('swap', (call) => call(), hangs);
    void auth.getToken();
    await settled();
    own.endRequest();
    await token(auth);
    expect(endpoint.requests).toHaveLength(1);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
  });

  test('elsewhere callers wait for the same attempt', async () => {
    const { client, clock, endpoint, store } = createBed('process');
    vi.stubGlobal('navigator', { userAgent: 'Node.js/24' });
    const auth = client();
    await clock.until(Promise.all(Array.from({ length: 20 }, () => auth.getToken())));
    expect(endpoint.requests.length).toBe(1);
    expect(store.calls.load).toBe(1);
  });

  test('without waitUntil no work is started without a waiting caller: a token is renewed when it expires', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const { client, clock, endpoint, store, token, use } = createBed('process');
    const auth = client();
    const first = await token(auth);
    await clock.advance(0.95 * day);
    expect(await use(auth, 10 * minute, 5 * second)).toEqual([first]);
    expect(endpoint.requests.length).toBe(1);
    // A waiting caller revalidates: every 28 seconds, not every 25.
    expect(store.calls.load).toBeLessThan(25);
    await clock.advance(0.05 * day);
    expect((await token(auth)).id).not.toBe(first.id);
    expect(endpoint.requests.length).toBe(2);
  });

  test('with waitUntil a token is renewed ahead of its expiry, by one attempt for all callers', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed('process');
    const { work, waitUntil } = lifeline();
    const auth = client({ waitUntil });
    const first = await token(auth);
    await clock.advance(0.95 * day);
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const begun = work.length;
    for (let call = 0; call < 100; call += 1) expect(await token(auth)).toBe(first);
    await settled();
    expect(work.length - begun).toBeLessThanOrEqual(2);
    expect(endpoint.requests.length).toBe(2);
    release();
    await Promise.all(work);
    expect((await token(auth)).id).not.toBe(first.id);
    expect(eventsOf('token_issued').map(({ reason }) => reason)).toEqual(['cold', 'refresh']);
  });

  test('with waitUntil one read of the record serves all callers', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    const { work, waitUntil } = lifeline();
    const auth = client({ waitUntil });
    await token(auth);
    await clock.advance(26 * second);
    const begun = work.length;
    for (let call = 0; call < 10; call += 1) void auth.getToken();
    expect(work.length - begun).toBe(1);
    await Promise.all(work);
    expect(endpoint.requests.length).toBe(1);
  });

  test('a runtime is given no work that rejects', async () => {
    const { client, clock, endpoint } = createBed('process');
    const { work, waitUntil } = lifeline();
    endpoint.next(failing('ECONNREFUSED'));
    await clock.until(failure('ERR_TOKEN_ENDPOINT', client({ waitUntil }).getToken()));
    expect(work).toHaveLength(1);
    await expect(Promise.all(work)).resolves.toEqual([undefined]);
  });

  test('a client is created without randomness and without a clock', () => {
    vi.stubGlobal('crypto', undefined);
    const forbidden = () => expect.fail('not allowed outside of a request');
    const clock = { now: forbidden, monotonic: forbidden, setTimer: forbidden };
    const options = { authUrl: 'https://auth.example.com', audience: 'orders', clientId: 'client', clientSecret: 's' };
    expect(createServiceAuth({ ...options, clock }).peekToken).toBeTypeOf('function');
  });
});
