import { memoryStore, type ServiceAuth, type ServiceAuthEvent, type Store } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { observeBudget } from '../src/budget.ts';
import { type InstrumentationOptions, instrumentServiceAuth } from '../src/index.ts';
import { tokenMetrics } from '../src/token-metrics.ts';
import { createMetrics, type Point } from './support/telemetry.ts';

async function instrumented(options: Parameters<typeof createAuth>[1] = {}, how: InstrumentationOptions = {}) {
  const service = await startService();
  const store = countingStore();
  const auth = createAuth(service, { store, ...options });
  const { meterProvider, collect } = createMetrics();
  const end = instrumentServiceAuth(auth, { meterProvider, ...how });
  return { service, store, auth, collect, end, meterProvider };
}

/** A store that counts its reads and can fail. */
function countingStore(): Store & { reads: number; fails: boolean } {
  const store = memoryStore();
  const counted = {
    ...store,
    reads: 0,
    fails: false,
    load: async (key: string) => {
      counted.reads += 1;
      if (counted.fails) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      return store.load(key);
    },
  };
  return counted;
}

function by(attribute: string, points: readonly Point[] = []): Record<string, unknown> {
  return Object.fromEntries(points.map(({ attributes, value }) => [attributes[attribute], value]));
}

describe('the gauges', () => {
  test('say what they show, in which unit', async () => {
    const { auth } = await instrumented();
    const made: unknown[] = [];
    const meter = {
      ...createMetrics().meterProvider.getMeter('test'),
      createObservableGauge: (name: string, options: object) => made.push([name, options]),
      addBatchObservableCallback: () => {},
    };
    observeBudget(auth, meter as never, {});
    const text = (pattern: RegExp) => expect.stringMatching(pattern);
    expect(made).toEqual(
      [
        ['limit', '{token}'],
        ['usage', '{token}'],
        ['available', '{token}'],
        ['spent_in', 's'],
        ['refused_for', 's'],
        ['foreign', '{token}'],
        ['remaining', 's'],
        ['expires_in', 's'],
        ['offset', 's'],
        ['info', ''],
      ].map(([name, unit]) => [
        text(new RegExp(`^service_auth\\..*${name}$`)),
        { unit, description: text(/^(The|Is) /) },
      ]),
    );
  });

  test('show the limit, its tokens by state, and how many can be had by purpose', async () => {
    const { auth, collect, service } = await instrumented();
    await auth.getToken();
    const metrics = await collect();
    const usage = await auth.getUsage();
    const window = { window: '24h' };
    expect(metrics['budget.limit']).toEqual([{ attributes: window, value: 150 }]);
    const states = { issued: 1, pending: 0, left: usage.remaining, kept_back: 150 - usage.usable };
    expect(by('state', metrics['budget.usage'])).toEqual(states);
    expect(by('reason', metrics['budget.available'])).toEqual(usage.available);
    expect(metrics['budget.refused_for']).toEqual([{ attributes: {}, value: 0 }]);
    expect(by('record', metrics['record.info'])).toEqual({ [`${usage.recordId}`]: 1 });
    expect(metrics['store.clock.offset']).toEqual([{ attributes: {}, value: expect.closeTo(0, -2) }]);
    expect(metrics['token.expires_in']).toEqual([{ attributes: {}, value: expect.closeTo(86_400, -2) }]);
    expect(service.counts.issued).toBe(1);
  });

  test('show each window of an agreement', async () => {
    const hour = 3_600_000;
    const windows = [
      { tokens: 10, windowMs: hour },
      { tokens: 20, windowMs: 1.5 * hour },
      { tokens: 50, windowMs: 24 * hour },
    ];
    const { collect } = await instrumented({ issuanceLimit: { windows, reserve: 0 } });
    expect(by('window', (await collect())['budget.limit'])).toEqual({ '1h': 10, '90m': 20, '24h': 50 });
  });

  test('show the tokens that others got with the same client id', async () => {
    const { auth, collect, service } = await instrumented();
    expect((await collect())['budget.foreign']).toEqual([{ attributes: {}, value: 0 }]);
    service.tokenEndpoint.next({ headers: { 'auth0-client-quota-limit': 'per_day;q=150;r=89;t=3600' } });
    await auth.getToken();
    expect((await collect())['budget.foreign']).toEqual([{ attributes: {}, value: 60 }]);
  });

  test('show holds, and for how long callers are refused', async () => {
    const { auth, collect, service } = await instrumented();
    service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '600' } });
    await auth.getToken().catch(() => {});
    const metrics = await collect();
    expect(by('hold', metrics['hold.remaining'])).toEqual({
      backoff: 0,
      credentials: 0,
      deaths: 0,
      rate_limited: expect.closeTo(600, -2),
      rejections: 0,
      renewal: 0,
    });
    expect(metrics['budget.refused_for']).toEqual([{ attributes: {}, value: expect.closeTo(600, -2) }]);
    expect(metrics['token.expires_in']).toEqual([{ attributes: {}, value: 0 }]);
    expect(metrics['budget.spent_in']).toEqual([{ attributes: {}, value: 31 * 86_400 }]);
  });

  test('are finite numbers, because an exporter that writes JSON has no others and a collector refuses the whole batch', async () => {
    const { auth, collect } = await instrumented();
    await auth.getToken();
    const gauges = Object.entries(await collect()).filter(([name]) =>
      /^(budget|hold|store|token.expires_in)/.test(name),
    );
    const values = gauges.flatMap(([, points]) => points?.map(({ value }) => value));
    expect(values).not.toContain(undefined);
    expect(values.filter((value) => JSON.stringify(value) === 'null')).toEqual([]);
  });

  test('go back to the usual state when a hold is over', async () => {
    const { auth, collect, service } = await instrumented();
    service.tokenEndpoint.next({ status: 503, headers: { 'retry-after': '600' } });
    await auth.getToken().catch(() => {});
    const remaining = async () => by('hold', (await collect())['hold.remaining'])['backoff'];
    expect(await remaining()).toBeGreaterThan(0);
    await auth.retryNow();
    await auth.getToken();
    expect(await remaining()).toBe(0);
  });

  test('tell a former record from the present one', async () => {
    const { auth, meterProvider, collect } = await instrumented();
    const usage = await auth.getUsage();
    const ids = [undefined, 'one', 'one', 'two'];
    const restarted = { ...auth, getUsage: async () => ({ ...usage, recordId: ids.shift() }) };
    instrumentServiceAuth(restarted, { meterProvider, attributes: { restarted: true } });
    const records = async () => by('record', (await collect())['record.info']);
    expect([await records(), await records(), await records(), await records()]).toEqual([
      {},
      { one: 1 },
      { one: 1 },
      { one: 0, two: 1 },
    ]);
  });

  test('read the record once for each collection, and spend nothing', async () => {
    const { collect, store, service, end } = await instrumented();
    await collect();
    await collect();
    expect(store.reads).toBe(2);
    end();
    await collect();
    expect(store.reads).toBe(2);
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('share one read for all clients of a record, and show each under its name', async () => {
    const { auth, collect, store, service, meterProvider } = await instrumented(
      {},
      { attributes: { client: 'first' } },
    );
    const second = createAuth(service, { store, audience: 'https://second.example.com/' });
    instrumentServiceAuth(second, { meterProvider, attributes: { client: 'second' } });
    await auth.getToken();
    const before = store.reads;
    const limits = (await collect())['budget.limit'];
    expect(store.reads).toBe(before + 1);
    expect(limits?.map(({ attributes, value }) => [attributes['client'], value])).toEqual([
      ['first', 150],
      ['second', 150],
    ]);
  });

  test('are missing while the store cannot be read, and the collection ends all the same', async () => {
    const { auth, collect, store } = await instrumented();
    await auth.getToken();
    store.fails = true;
    const metrics = await collect();
    expect(metrics['budget.limit']).toBeUndefined();
    expect(metrics['token.expires_in']).toHaveLength(1);
  });

  test('wait two seconds for a store that does not answer', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { meterProvider, collect } = createMetrics();
    const auth: Pick<ServiceAuth, 'getUsage' | 'peekToken' | 'subscribe'> = {
      getUsage: () => new Promise(() => {}),
      peekToken: () => undefined,
      subscribe: () => () => {},
    };
    instrumentServiceAuth(auth, { meterProvider });
    const collected = vi.fn();
    const collection = collect().then(collected);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(collected).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await collection;
    expect(collected.mock.calls).toEqual([[{ 'token.expires_in': [{ attributes: {}, value: 0 }] }]]);
  });
});

test('a collection that waits for a store keeps no process running', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  const { auth, collect, store } = await instrumented();
  await auth.getToken();
  const { load } = store;
  timers.mockClear();
  let isKept: boolean | undefined;
  store.load = async (key) => {
    isKept = timers.mock.results.some(({ value }, index) => timers.mock.calls[index]?.[1] === 2_000 && value.hasRef());
    return load(key);
  };
  await collect();
  expect(isKept).toBe(false);
});

describe('the counters and histograms', () => {
  test('say what they count, in which unit, and have buckets for seconds', async () => {
    const { meterProvider } = createMetrics();
    const made: Record<string, object | undefined> = {};
    const meter = meterProvider.getMeter('test');
    const { createCounter, createHistogram } = meter;
    const noting =
      <Made>(make: (name: string, options?: object) => Made) =>
      (name: string, options?: object) => {
        made[name] = options;
        return make.call(meter, name, options);
      };
    Object.assign(meter, { createCounter: noting(createCounter), createHistogram: noting(createHistogram) });
    tokenMetrics(meter, () => ({}));
    expect(Object.values(made)).toEqual(
      Array(8).fill(expect.objectContaining({ unit: expect.any(String), description: expect.stringMatching(/^The /) })),
    );
    expect(made['service_auth.token.request.duration']).toMatchObject({
      unit: 's',
      advice: { explicitBucketBoundaries: expect.arrayContaining([0.005, 30]) },
    });
  });

  test.each(['agreement_differs', 'clock_anomaly', 'ledger_lost', 'store_damaged', 'store_warning'] as const)(
    'count %s as a problem of the record',
    async (type) => {
      const { meterProvider, collect } = createMetrics();
      tokenMetrics(meterProvider.getMeter('test'), () => ({}))({ type } as ServiceAuthEvent);
      const { 'record.problems': problems } = await collect();
      expect(problems).toEqual([{ attributes: { problem: type }, value: 1 }]);
    },
  );

  test('count requests with their outcome, and issued tokens', async () => {
    const { auth, collect, service } = await instrumented();
    service.tokenEndpoint.next({ status: 503, headers: { 'retry-after': '1' } });
    await auth.getToken().catch(() => {});
    await auth.retryNow();
    await auth.getToken();
    const metrics = await collect();
    expect(metrics['token.request.duration']).toMatchObject([
      { attributes: { outcome: 'unknown', 'error.type': '503' }, value: { count: 1 } },
      { attributes: { outcome: 'issued' }, value: { count: 1 } },
    ]);
    expect(metrics['token.issued']).toEqual([{ attributes: { reason: 'cold' }, value: 1 }]);
    expect(metrics['token.unavailable']).toEqual([{ attributes: { 'error.type': 'ERR_TOKEN_ENDPOINT' }, value: 1 }]);
    const calls = metrics['store.operation.duration'] ?? [];
    expect(calls.map(({ attributes }) => attributes['operation'])).toEqual(['load', 'swap']);
  });

  test('count 401s and refusals', async () => {
    const { auth, collect, service, store } = await instrumented({ issuanceLimit: { tokens: 4, reserve: 0 } });
    const other = createAuth(service, { store, issuanceLimit: { tokens: 4, reserve: 0 } });
    await other.getToken();
    await auth.invalidate(await auth.getToken());
    await auth.reset();
    for (let calls = 0; calls < 5; calls += 1) {
      await auth.getToken().catch(() => {});
      await auth.reset().catch(() => {});
    }
    await auth.getToken().catch(() => {});
    const metrics = await collect();
    expect(metrics['token.rejected']).toEqual([{ attributes: { outcome: 'renew' }, value: 1 }]);
    expect(metrics['issuance.refused']?.[0]?.attributes).toEqual({ reason: 'reset' });
  });

  test('count each refusal of an event that tells of many', () => {
    const add = vi.fn();
    const meter = {
      createCounter: (name: string) => ({ add: add.bind(undefined, name) }),
      createHistogram: () => ({}),
    };
    const tell = tokenMetrics(meter as never, () => ({}));
    for (const type of ['issuance_refused', 'issuance_over_limit'])
      for (const count of [1, 600, 42]) tell({ type, reason: 'cold', count } as never);
    expect(add.mock.calls).toEqual(
      ['issuance.refused', 'issuance.over_limit'].flatMap((name) =>
        [1, 600, 42].map((count) => [`service_auth.${name}`, count, { reason: 'cold' }]),
      ),
    );
  });

  test('count what endangers the record, and failures of the store by their error', async () => {
    const { auth, collect, store } = await instrumented();
    await auth.getToken();
    store.fails = true;
    await auth.getUsage().catch(() => {});
    store.fails = false;
    const { load } = store;
    store.load = async (key) => ({ ...(await load(key)), warnings: ['evicts records'] });
    await auth.getUsage();
    const metrics = await collect();
    expect(metrics['record.problems']).toEqual([{ attributes: { problem: 'store_warning' }, value: 1 }]);
    const failures = metrics['store.operation.duration']?.filter(({ attributes }) => 'error.type' in attributes);
    expect(failures).toMatchObject([
      { attributes: { outcome: 'failed', 'error.type': 'Error ECONNRESET' }, value: { count: 2 } },
    ]);
  });

  test('have the attributes that are asked for', async () => {
    const attributes = { client: 'orders' };
    const { auth, collect, service } = await instrumented({}, { attributes, audience: true });
    await auth.getToken();
    const metrics = await collect();
    const { audience } = service.credentials;
    expect(metrics['token.issued']?.[0]?.attributes).toEqual({
      ...attributes,
      audience: audience,
      reason: 'cold',
    });
    for (const points of Object.values(metrics)) {
      for (const point of points) expect(point.attributes).toMatchObject(attributes);
    }
  });
});

test('no attribute contains a secret, a token or an address', async () => {
  const { auth, collect, service } = await instrumented({}, { audience: true });
  const { value } = await auth.getToken();
  service.tokenEndpoint.always({ status: 500, body: 'secret of the endpoint' });
  await auth.reset();
  await auth.getToken().catch(() => {});
  const text = JSON.stringify(await collect());
  const { clientSecret } = service.credentials;
  for (const secret of [value, clientSecret, service.authUrl, 'secret of the endpoint']) {
    expect(text).not.toContain(secret);
  }
});
