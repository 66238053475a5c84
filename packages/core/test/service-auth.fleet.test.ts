import { describe, expect, test, vi } from 'vitest';
import { errorPage } from '../src/contract/error-page.ts';
import { decodeRecord, encodeRecord } from '../src/ledger/codec.ts';
import type { LedgerRecord } from '../src/ledger/record.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { createManualClock, settled } from './support/manual-clock.ts';
import { answering, failing, gated, silent } from './support/scripted-endpoint.ts';

describe('two clients over one store', () => {
  test('the second adopts what the first got, at no cost', async () => {
    const { client, clock, endpoint, token, eventsOf } = createBed();
    const first = await token(client());
    await clock.advance(hour);
    const second_ = await token(client());
    expect(second_).toMatchObject({
      value: first.value,
      id: first.id,
      issuedAt: first.issuedAt,
      expiresAt: first.expiresAt,
    });
    expect(endpoint.requests.length).toBe(1);
    expect(eventsOf('token_adopted')).toMatchObject([
      { tokenId: first.id, expiresAt: first.expiresAt, instance: 'process 2' },
    ]);
  });

  test('what the second adopted leaves the same margin of a minute', async () => {
    const { client, clock, endpoint, token } = createBed();
    const { expiresAt } = await token(client());
    await clock.advance(hour);
    const second_ = client();
    const adopted = await token(second_);
    endpoint.next(answering(503), answering(503));
    await clock.advance(expiresAt - minute - second - clock.now());
    expect(await token(second_)).toBe(adopted);
    await clock.advance(second);
    await failure('ERR_TOKEN_ENDPOINT', second_.getToken());
  });

  test('the second waits for the request of the first', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const first = client().getToken();
    await settled();
    const others = Array.from({ length: 10 }, () => client().getToken());
    await clock.advance(20 * second);
    expect(endpoint.requests.length).toBe(1);
    release();
    const tokens = await clock.until(Promise.all([first, ...others]));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([1, 0]);
  });

  test('a hundred that start at once send one request', async () => {
    const { client, clock, endpoint } = createBed();
    const tokens = await clock.until(Promise.all(Array.from({ length: 100 }, () => client().getToken())));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect([endpoint.requests.length, clock.timers.all]).toEqual([1, 0]);
  });

  test('a swap that another process was ahead of is tried again after a pause, not at once', async () => {
    const { client, clock, store, endpoint } = createBed();
    store.next('swap', async () => ({ swapped: false, now: clock.now() }) as never);
    const promise = client().getToken();
    await settled();
    expect([store.calls.swap, endpoint.requests.length]).toEqual([1, 0]);
    await clock.until(promise);
    expect([store.calls.swap, endpoint.requests.length]).toEqual([3, 1]);
  });

  test('a renewal of another process is not asked after before its lease is over', async () => {
    const { client, clock, store, endpoint, token, use } = createBed();
    const [one, two] = [client(), client()];
    await token(one);
    await token(two);
    await clock.advance(0.9 * day);
    endpoint.next(silent);
    await one.getToken();
    await settled();
    const before = store.calls.load;
    await use(two, 50 * second, second);
    // One to renew, and one every 25 seconds.
    expect(store.calls.load - before).toBeLessThanOrEqual(4);
  });

  test('those who wait for a process that died are there the moment its lease is over', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    try {
      const { client, clock, endpoint, token } = createBed();
      endpoint.next(silent);
      client({ clock: createManualClock() })
        .getToken()
        .catch(() => {});
      await settled();
      const startedAt = clock.monotonic();
      await token(client());
      expect(clock.monotonic() - startedAt).toBe(60 * second + 1);
    } finally {
      random.mockRestore();
    }
  });

  test('the second takes over when the first dies, after its lease and not before', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(silent);
    // A process whose clock stands still never does anything again.
    const doomed = client({ clock: createManualClock() });
    doomed.getToken().catch(() => {});
    await settled();
    const startedAt = clock.monotonic();
    const waiting = client().getToken();
    await clock.advance(60 * second - 1);
    expect(endpoint.requests.length).toBe(1);
    const token = await clock.until(waiting);
    expect(clock.monotonic() - startedAt).toBeLessThanOrEqual(63 * second);
    expect(endpoint.requests.length).toBe(2);
    expect(await client().getUsage()).toMatchObject({
      used: 2,
      pending: 1,
      issuances: [{ id: token.id }, { pending: true }],
    });
  });

  test('the sooner a request has to end, the sooner the second takes over', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(silent);
    const doomed = client({ clock: createManualClock(), timeoutMs: second });
    doomed.getToken().catch(() => {});
    await settled();
    const startedAt = clock.monotonic();
    const waiting = client({ timeoutMs: second }).getToken();
    await clock.advance(9 * second - 1);
    expect(endpoint.requests.length).toBe(1);
    await clock.until(waiting);
    expect(clock.monotonic() - startedAt).toBeLessThanOrEqual(11 * second);
    expect(endpoint.requests.length).toBe(2);
  });

  test('those who wait fail with the failure of the one they wait for', async () => {
    const { client, clock, endpoint } = createBed();
    const { answer, release } = gated(answering(401, '{"error":"invalid_client"}'));
    endpoint.next(answer);
    const first = failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    await settled();
    const waiting = failure('ERR_CREDENTIALS_REJECTED', client().getToken());
    await clock.advance(second);
    release();
    expect(await clock.until(waiting)).toMatchObject({ endpointStatus: 401, oauthError: 'invalid_client' });
    await first;
    expect(endpoint.requests.length).toBe(1);
  });

  test('callers that wait for a silent process can be aborted one by one', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(silent);
    client()
      .getToken()
      .catch(() => {});
    await settled();
    const controller = new AbortController();
    const waiting = client().getToken({ signal: controller.signal });
    await clock.advance(5 * second);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
  });

  test('each audience has a token of its own, of one budget', async () => {
    const { client, endpoint, token } = createBed();
    const orders = client();
    const invoices = client({ audience: 'invoices' });
    expect((await token(orders)).value).not.toBe((await token(invoices)).value);
    expect(endpoint.requests.map(({ body }) => JSON.parse(body).audience)).toEqual(['orders', 'invoices']);
    const usage = await orders.getUsage();
    expect(usage.used).toBe(2);
    expect(usage.issuances.map(({ audience }) => audience)).toEqual(['invoices', 'orders']);
  });

  test('each client id, and each token endpoint, has a budget of its own, however the endpoint is spelt', async () => {
    const { client, endpoint, token } = createBed();
    await token(client());
    await token(client({ authUrl: 'HTTPS://AUTH.example.com:443//' }));
    expect(endpoint.requests.length).toBe(1);
    const others = [client({ clientId: 'client-2' }), client({ authUrl: 'https://auth.example.com/tenant' })];
    for (const auth of others) {
      await token(auth);
      expect(await auth.getUsage()).toMatchObject({ used: 1 });
    }
  });
});

describe('a back-off of the whole fleet', () => {
  test('429: no process asks again before the pause ends', async () => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(answering(429, '', { 'retry-after': '600' }));
    const first = await failure('ERR_RATE_LIMITED', client().getToken());
    expect(first.retryAt).toBe(clock.now() + 600 * second);
    const other = client();
    await clock.advance(599 * second);
    expect((await failure('ERR_RATE_LIMITED', other.getToken())).retryAt).toBe(clock.now() + second);
    expect(endpoint.requests.length).toBe(1);
    await clock.advance(second);
    await token(other);
    expect(endpoint.requests.length).toBe(2);
    expect(await other.getUsage()).toMatchObject({ used: 1 });
  });

  test('503 with Retry-After: no process asks or probes before the pause ends, and without it after a second', async () => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(answering(503), answering(503, '', { 'retry-after': '7200' }));
    expect((await failure('ERR_TOKEN_ENDPOINT', client().getToken())).retryAt).toBe(clock.now() + second);
    await clock.advance(second);
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', client().getToken());
    expect(retryAt).toBe(clock.now() + 7_200 * second);
    await clock.advance(7_199 * second);
    await failure('ERR_TOKEN_ENDPOINT', client().getToken());
    expect(endpoint.requests.length).toBe(2);
    await clock.advance(second);
    await token(client());
  });

  test('an endpoint that fails: the pauses are shared, and grow', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.otherwise(failing('ENOTFOUND'));
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt++) {
      const auth = client();
      const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
      pauses.push((retryAt - clock.now()) / second);
      await clock.advance(retryAt - clock.now());
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]);
    expect(endpoint.requests.length).toBe(11);
    expect(await client().getUsage()).toMatchObject({ used: 0 });
  });

  test('a long outage of unknown outcome: half of the budget is left, and the fleet recovers by itself', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    endpoint.otherwise(answering(502));
    const auth = client();
    let maxUsed = 0;
    for (const until = clock.monotonic() + 3 * day; clock.monotonic() < until; ) {
      const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
      await clock.advance(retryAt - clock.now());
      maxUsed = Math.max(maxUsed, (await auth.getUsage()).used);
    }
    expect(maxUsed).toBeLessThanOrEqual(60);
    expect(maxUsed).toBeGreaterThan(40);
    endpoint.otherwise(endpoint.issue);
    expect((await token(auth)).value).toBeTruthy();
  });

  test('a success ends it all', async () => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(answering(500), answering(500), answering(500));
    const auth = client();
    for (let attempt = 0; attempt < 3; attempt++) {
      await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
      await clock.advance(5 * second);
    }
    await token(auth);
    endpoint.next(answering(500));
    await clock.advance(2 * day);
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
    expect(retryAt).toBe(clock.now() + second);
  });

  test('a lease that is taken again and again: those who wait give up', async () => {
    const { client, clock, endpoint, store } = createBed();
    endpoint.next(silent);
    client({ clock: createManualClock() })
      .getToken()
      .catch(() => {});
    await settled();
    const record = decodeRecord((await store.text()) ?? '') as LedgerRecord;
    const spent = record.spent.map((one) => ({ ...one, until: clock.now() + hour }));
    await store.replace(encodeRecord({ ...record, spent }));
    const waiting = failure('ERR_TOKEN_ENDPOINT', client().getToken());
    await clock.advance(3 * minute - 4 * second);
    expect(clock.timers.all).toBeGreaterThan(0);
    await clock.until(waiting);
    expect(await waiting).toMatchObject({
      ambiguous: false,
      endpointStatus: undefined,
      retryAt: record.completeSince + hour,
    });
    const { message } = await waiting;
    expect(message.replaceAll(/1(7[789]|80) s/g, '3 min')).toBe(
      `[service-auth] Gave up waiting for a token after 3 min: other processes, which could not get one, took 3 min of them. Try again at ${new Date(record.completeSince + hour).toISOString()}. See ${errorPage}#err_token_endpoint`,
    );
    expect(clock.monotonic()).toBeLessThanOrEqual(3 * minute);
  });
});
