import { describe, expect, test } from 'vitest';
import type { ServiceAuth, ServiceAuthOptions } from '../src/index.ts';
import { type Bed, createBed, failure, minute, ofProcess, second } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';
import { settled } from './support/manual-clock.ts';
import { gated } from './support/scripted-endpoint.ts';
import { seedRandom } from './support/seeded-random.ts';

seedRandom();

const issuanceLimit = { tokens: 1_100, reserve: 0 };

/** Many clients of one process, each with an audience of its own. */
function manyClients(count: number, limit: ServiceAuthOptions['issuanceLimit'] = issuanceLimit) {
  const bed = createBed();
  const store = ofProcess(bed.store);
  const clients = Array.from({ length: count }, (_, index) =>
    bed.client({ store, audience: `api ${index}`, issuanceLimit: limit }),
  );
  return { ...bed, clients };
}

/** From now on a write takes as long as everything else that can happen at this moment, so that much is written together. */
function writesSlowly({ store }: Bed): void {
  store.always('swap', async (call) => {
    await settled();
    return call();
  });
}

describe('many processes', () => {
  test.each([
    [6, 5, 8 * second],
    [9, 50, 20 * second],
  ])(
    'that ask at once for an audience each write the record %d times each at most, over a store that takes %d ms',
    async (times, storeMs, mostMs) => {
      const { client, clock, store, endpoint } = createBed();
      const passes = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
      store.always('both', async (call) => {
        await passes(storeMs);
        return call();
      });
      endpoint.otherwise(async (request) => {
        await passes(100);
        return endpoint.issue(request);
      });
      const begunAt = clock.monotonic();
      const clients = Array.from({ length: 100 }, (_, index) => client({ audience: `api ${index}`, issuanceLimit }));
      await clock.until(Promise.all(clients.map((auth) => auth.getToken())));
      expect(endpoint.requests.length).toBe(100);
      expect(store.calls.swap).toBeLessThanOrEqual(times * clients.length);
      expect(clock.monotonic() - begunAt).toBeLessThanOrEqual(mostMs);
    },
  );
});

describe('many clients of one process', () => {
  test('write their reservations and outcomes together', async () => {
    const bed = manyClients(100);
    const { clients, clock, endpoint, store } = bed;
    writesSlowly(bed);
    const tokens = await clock.until(Promise.all(clients.map((auth) => auth.getToken())));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(100);
    expect(endpoint.requests.length).toBe(100);
    expect(store.calls.load).toBeLessThan(10);
    expect(store.calls.swap).toBeLessThan(20);
    expect(await clients[0]?.getUsage()).toMatchObject({ used: 100, pending: 0 });
  });

  test('read the record together: at most 30 times in five minutes of use', async () => {
    const { clients, clock, store } = manyClients(40);
    for (const auth of clients) {
      await clock.until(auth.getToken());
      await clock.advance(second);
    }
    const before = store.calls.load;
    for (let passed = 0; passed < 5 * minute; passed += second) {
      await clock.advance(second);
      await Promise.all(clients.map((auth) => auth.getToken()));
    }
    await settled();
    expect(store.calls.load - before).toBeLessThanOrEqual(30);
    expect(store.calls.load - before).toBeGreaterThan(10);
  });

  test.each([
    ['an eighth of the usable tokens', 10, { tokens: 80, reserve: 0 }],
    ['256 without a limit', 256, 'unlimited'],
  ] as const)('have at most %s under way, and the others follow', async (_, most, limit) => {
    const count = most + 10;
    const bed = manyClients(count, limit);
    const { clients, clock, endpoint } = bed;
    const { answer, release } = gated(endpoint.issue);
    endpoint.otherwise(answer);
    const tokens = Promise.all(clients.map((auth) => auth.getToken()));
    await settled();
    expect(endpoint.requests.length).toBe(most);
    writesSlowly(bed);
    release();
    await clock.until(tokens);
    expect(endpoint.requests.length).toBe(count);
  });

  test('that are refused are refused alone', async () => {
    const { client, clock, store: shared, endpoint } = createBed();
    const store = ofProcess(shared);
    const few = { tokens: 3, reserve: 0 };
    const clients = Array.from({ length: 5 }, (_, index) =>
      client({ store, audience: `api ${index}`, issuanceLimit: few }),
    );
    const results = await clock.until(Promise.allSettled(clients.map((auth) => auth.getToken())));
    expect(results.map(({ status }) => status).sort()).toEqual(
      [...Array(3).fill('fulfilled'), 'rejected', 'rejected'].sort(),
    );
    expect(endpoint.requests.length).toBe(3);
  });

  test('fail together when the store fails, and are served when it answers again', async () => {
    const { clients, clock, store } = manyClients(5);
    store.always('both', fails);
    for (const auth of clients) await failure('ERR_STORE', clock.until(auth.getToken()));
    store.always('both');
    await clock.until(Promise.all(clients.map((auth) => auth.getToken())));
  });

  test('remember the outcomes that could not be written for each other', async () => {
    const { clients, clock, store, endpoint } = manyClients(3);
    store.next('swap', (call) => call(), fails, fails);
    const [one, two] = clients;
    await clock.until(one?.getToken() ?? Promise.reject());
    await clock.until(two?.getToken() ?? Promise.reject());
    expect(await two?.getUsage()).toMatchObject({ used: 2, pending: 0 });
    expect(endpoint.requests.length).toBe(2);
  });
});

test('a look that uses a record of ten seconds ago does not make a reset known later than 30 seconds after it', async () => {
  const bed = createBed();
  const store = ofProcess(bed.store);
  const [one, two] = [0, 1].map(() => bed.client({ store, issuanceLimit })) as [ServiceAuth, ServiceAuth];
  const other = bed.client({ issuanceLimit });
  const first = await bed.token(one);
  // The looks of the second client come nine seconds after those of the first.
  await bed.clock.advance(9 * second);
  await bed.token(two);
  await bed.use(one, 17 * second, second);
  await bed.clock.until(other.reset());
  for (let passed = 0; passed < 30; passed += 1) {
    await bed.clock.advance(second);
    await bed.clock.until(two.getToken());
  }
  expect((await bed.token(two)).value).not.toBe(first.value);
});

test('processes that write at once all get their tokens', async () => {
  const { client, clock, endpoint } = createBed();
  const fleet = Array.from({ length: 30 }, (_, index) => client({ audience: `api ${index}`, issuanceLimit }));
  await clock.until(Promise.all(fleet.map((auth) => auth.getToken())));
  expect(endpoint.requests.length).toBe(30);
  expect(await fleet[0]?.getUsage()).toMatchObject({ used: 30, pending: 0 });
});
