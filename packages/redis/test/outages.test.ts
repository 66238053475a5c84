import { createServiceAuth, type ServiceAuthEvent } from '@service-auth/core';
import { expectAborts, expectDeadline } from '@service-auth/test-support/silent-store';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { createTestClock, startTestService } from '@service-auth/testing';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoRedis6 } from 'ioredis-6';
import { createClient as createClient4 } from 'redis-4';
import { createClient as createClient5 } from 'redis-5';
import { createClient } from 'redis-6';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';
import { clients } from './clients.ts';

const redis = await orSkip(() => startRedis({ appendonly: 'yes' }));
afterAll(() => redis?.stop());

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function relayed() {
  const relay = await startRelay(redis?.port ?? 0);
  endings.push(() => relay.close());
  return { relay, url: `redis://127.0.0.1:${relay.port}` };
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

describe.runIf(redis)('a server that accepts everything and answers nothing', () => {
  for (const [name, connect] of Object.entries(clients)) {
    test(`delays no caller beyond the deadline, with ${name}`, async () => {
      const { relay, url } = await relayed();
      const { client, close } = await connect(url);
      endings.push(close);
      const store = redisStore(client);
      const clock = createTestClock();
      await using service = await startTestService({ clock });
      const events: ServiceAuthEvent[] = [];
      await using auth = createServiceAuth({ ...service.options, store, onEvent: (event) => events.push(event) });
      await auth.getUsage();

      await expectDeadline(auth, relay, clock);
      expect(service.counts.tokenRequests).toBe(0);

      relay.set('pass');
      await auth.getToken();
      expect(service.counts.issued).toBe(1);
      expect(events.map(({ type }) => type)).toEqual([
        'store_failed',
        'token_unavailable',
        'store_recovered',
        'token_issued',
      ]);
    });

    test(`delays no caller whose signal aborts, with ${name}`, async () => {
      const { relay, url } = await relayed();
      const { client, close } = await connect(url);
      endings.push(close);
      const store = redisStore(client);
      await expectAborts(store, relay);
    });
  }
});

describe.runIf(redis)('a reply that is lost on its way', () => {
  test('has ioredis send the swap again: it is one change, and reported as swapped', async () => {
    const { relay, url } = await relayed();
    const client = new IoRedis6(url);
    endings.push(() => client.disconnect());
    client.on('error', () => {});
    const store = redisStore(client, { prefix: 'lost:' });
    await store.swap('key', change('1'));

    const observer = new IoRedis5(redis?.url ?? '');
    endings.push(() => observer.disconnect());
    await observer.config('RESETSTAT');
    relay.set('deaf');
    client.once('close', () => relay.set('pass'));
    expect(await store.swap('key', change('2', '1'))).toMatchObject({ swapped: true });
    expect(relay.counts.deaf).toBe(1);
    // That it was executed twice is what this test stands on.
    expect(await observer.info('commandstats')).toMatch(/cmdstat_evalsha:calls=2,/);
    expect(await observer.hgetall('lost:key')).toEqual({ version: '2', record: 'record of 2' });
  });

  test('has node-redis reject: the change was made, and core finds it', async () => {
    const { relay, url } = await relayed();
    const client = createClient({ url }).on('error', () => {});
    await client.connect();
    endings.push(() => client.destroy());
    await using service = await startTestService();
    const events: ServiceAuthEvent[] = [];
    const onEvent = (event: ServiceAuthEvent) => events.push(event);
    const store = redisStore(client);
    let swaps = 0;
    await using auth = createServiceAuth({
      ...service.options,
      onEvent,
      store: {
        ...store,
        swap(key, change, options) {
          swaps += 1;
          if (swaps === 1) relay.set('deaf');
          return store.swap(key, change, options).finally(() => relay.set('pass'));
        },
      },
    });
    await auth.getToken();
    expect([relay.counts.deaf, swaps, service.counts.issued]).toEqual([1, 2, 1]);
    expect(events.map(({ type }) => type)).toEqual(['store_failed', 'store_recovered', 'token_issued']);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
  });
});

describe.runIf(redis)('a server that became a read-only replica', () => {
  test('has failed until it can be written again, although it can be read', async () => {
    const server = await startRedis();
    endings.push(() => server.stop());
    const client = createClient({ url: server.url }).on('error', () => {});
    await client.connect();
    endings.push(() => client.destroy());
    await using service = await startTestService();
    const events: ServiceAuthEvent[] = [];
    await using auth = createServiceAuth({
      ...service.options,
      store: redisStore(client),
      onEvent: (event) => events.push(event),
    });
    const ofStore = () => events.flatMap((event) => (/^store_(f|r)/.test(event.type) ? [event.type] : []));
    // Nothing listens there, so the data stay as they are.
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    for (let call = 0; call < 3; call += 1) {
      await expect(auth.getToken()).rejects.toMatchObject({ code: 'ERR_STORE' });
      expect(await auth.getUsage()).toMatchObject({ used: 0 });
    }
    expect(ofStore()).toEqual(['store_failed']);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await auth.getToken();
    expect(ofStore()).toEqual(['store_failed', 'store_recovered']);
  });
});

describe.runIf(redis)('a server that is down when a process begins', () => {
  test.each([
    ['node-redis 4', (url: string) => createClient4({ url, socket: { reconnectStrategy: 5 } })],
    ['node-redis 5', (url: string) => createClient5({ url, socket: { reconnectStrategy: 5 } })],
    ['node-redis 6', (url: string) => createClient({ url, socket: { reconnectStrategy: 5 } })],
  ])(
    'never settles connect() of %s; a client that connects in the background serves as soon as it is up',
    async (_, create) => {
      const server = await startRedis({});
      endings.push(() => server.stop());
      await server.kill();
      const client = create(server.url);
      client.on('error', () => {});
      endings.push(() => client.disconnect());
      let isConnected = false;
      void client.connect().then(() => {
        isConnected = true;
      });
      const store = redisStore(client);
      await expect(store.load('key', { signal: AbortSignal.timeout(200) })).rejects.toThrow();
      expect(isConnected).toBe(false);
      await server.restart();
      expect(await store.load('key')).toMatchObject({ now: expect.any(Number) });
      expect(isConnected).toBe(true);
    },
  );
});

describe.runIf(redis)('a server that restarts', () => {
  for (const [name, connect] of Object.entries(clients)) {
    test(`is used again as soon as ${name} is connected again`, async () => {
      const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
      endings.push(() => server.stop());
      const { client, close } = await connect(server.url);
      endings.push(close);
      const store = redisStore(client);
      await store.swap('key', change('1'));
      await server.kill();
      await expect(store.load('key', { signal: AbortSignal.timeout(50) })).rejects.toThrow();
      await server.restart();
      const found = async (): Promise<unknown> => store.load('key').catch(found);
      expect(await found()).toMatchObject({ version: '1' });
    });
  }

  test('is down while it loads its data', async () => {
    // Loading a hundred keys takes it most of a second, and it serves its clients meanwhile.
    const server = await startRedis({ 'key-load-delay': '8000', 'loading-process-events-interval-bytes': '1024' });
    endings.push(() => server.stop());
    const filling = new IoRedis6(server.url);
    endings.push(() => filling.disconnect());
    filling.on('error', () => {});
    await Promise.all(Array.from({ length: 100 }, (_, index) => filling.set(`filling ${index}`, 'x'.repeat(1_000))));
    await filling.save();
    await server.kill();
    const restarted = server.restart();

    const client = createClient({ url: server.url, socket: { reconnectStrategy: 5 } }).on('error', () => {});
    endings.push(() => client.destroy());
    await client.connect();
    const error = await redisStore(client)
      .load('key')
      .catch((error: Error) => error);
    expect(error).toMatchObject({ code: 'LOADING' });
    await restarted;
    expect(await redisStore(client).load('key')).toMatchObject({ now: expect.any(Number) });
  });
});
