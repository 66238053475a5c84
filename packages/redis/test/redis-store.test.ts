import { createHash } from 'node:crypto';
import { createServiceAuth, type ServiceAuthEvent, type Store } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { type RedisSettings, startRedis } from '@service-auth/test-tools/servers/redis';
import { startTestService } from '@service-auth/testing';
import { Redis } from 'ioredis-6';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { redisStore } from '../src/index.ts';
import { upstash } from './clients.ts';

const redis = await orSkip(() => startRedis({ appendonly: 'yes' }));
afterAll(() => redis?.stop());
const url = redis?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(to = url): Redis {
  const client = new Redis(to);
  client.on('error', () => {});
  endings.push(() => client.disconnect());
  return client;
}

async function start(settings: RedisSettings): Promise<Redis> {
  const server = await startRedis(settings);
  endings.push(() => server.stop());
  return connect(server.url);
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

async function callsOf(client: Redis): Promise<Record<string, number>> {
  const stats = await client.info('commandstats');
  return Object.fromEntries(
    [...stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(([, name, calls]) => [name, Number(calls)]),
  );
}

describe.runIf(redis)('the record', () => {
  test('is one hash without expiry, under the prefix', async () => {
    const client = connect();
    await redisStore(client, { prefix: 'mine:' }).swap('key', change('1'));
    expect(await client.hgetall('mine:key')).toEqual({ version: '1', record: 'record of 1' });
    expect(await client.ttl('mine:key')).toBe(-1);
  });

  test('loses an expiry that somebody gave it', async () => {
    const client = connect();
    const store = redisStore(client);
    await store.swap('expiring', change('1'));
    await client.expire('service-auth:expiring', 1_000);
    expect(await client.ttl('service-auth:expiring')).toBeGreaterThan(0);
    await store.swap('expiring', change('2', '1'));
    expect(await client.ttl('service-auth:expiring')).toBe(-1);
  });

  test('survives kill -9 of a Redis that appends', async () => {
    const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    endings.push(() => server.stop());
    const store = redisStore(connect(server.url));
    await store.swap('key', change('1'));
    await server.kill();
    await server.restart();
    expect(await store.load('key')).toMatchObject({ version: '1', record: 'record of 1' });
  });

  test('does not survive kill -9 of one that does not', async () => {
    const server = await startRedis({ appendonly: 'no' });
    endings.push(() => server.stop());
    const store = redisStore(connect(server.url));
    await store.swap('key', change('1'));
    await server.kill();
    await server.restart();
    expect(await store.load('key')).not.toHaveProperty('version');
  });
});

describe.runIf(redis)('scripts', () => {
  test('are sent whole once, and by their hash from then on', async () => {
    const client = await start({});
    const store = redisStore(client);
    await store.load('key');
    await store.swap('key', change('1'));
    expect(await callsOf(client)).toMatchObject({ evalsha: 2, eval: 2 });
    await store.load('key');
    await store.swap('key', change('2', '1'));
    await redisStore(connect(`redis://127.0.0.1:${client.options.port}`)).load('key');
    expect(await callsOf(client)).toMatchObject({ evalsha: 5, eval: 2 });
  });

  test('are sent whole again where the server forgot them', async () => {
    const client = await start({});
    const store = redisStore(client);
    await store.swap('key', change('1'));
    await client.script('FLUSH');
    expect(await store.swap('key', change('2', '1'))).toMatchObject({ swapped: true });
  });
});

test.runIf(redis)('records that look like JSON survive both settings of the client of Upstash', async () => {
  for (const automaticDeserialization of [true, false]) {
    const { client, close } = await upstash(url, { automaticDeserialization });
    endings.push(close);
    const store = redisStore(client, { prefix: `upstash ${automaticDeserialization} ` });
    const [first, second] = ['{"a":01}', '{"b":[1.0,null]}'];
    await store.swap('key', { version: '007', record: first });
    expect(await store.load('key')).toMatchObject({ version: '007', record: first });
    expect(await store.swap('key', { expected: '007', version: '1e3', record: second })).toMatchObject({
      swapped: true,
    });
    expect(await store.load('key')).toMatchObject({ version: '1e3', record: second, now: expect.any(Number) });
  }
});

test('the hash of each script is that of its text, computed without SHA-1 of the platform', async () => {
  const compared: [string, string][] = [];
  let hash = '';
  const client = {
    evalSha: (sha1: string) => {
      hash = sha1;
      return Promise.reject(new Error('NOSCRIPT No matching script.'));
    },
    eval: (script: string) => {
      compared.push([hash, createHash('sha1').update(script).digest('hex')]);
      return Promise.resolve(['0', '1', '', '', '']);
    },
  };
  const digest = vi.spyOn(crypto.subtle, 'digest');
  endings.push(() => digest.mockRestore());
  const store = redisStore(client);
  await store.load('key');
  await store.swap('key', change('1'));
  expect(compared.map(([written]) => written)).toEqual(compared.map(([, computed]) => computed));
  expect(compared).toHaveLength(2);
  expect(digest).not.toHaveBeenCalled();
});

describe.runIf(redis)('a server that cannot answer as it should', () => {
  const rejection = (call: Promise<unknown>) => expect(call).rejects;

  test('is reported by the code of its answer, and by nothing else of it', async () => {
    const client = await start({});
    const store = redisStore(client);
    await store.load('key');
    await client.set('service-auth:key', 'something of somebody else');
    const error = await store.load('key').catch((error: Error) => error);
    expect(error).toMatchObject({ code: 'WRONGTYPE', message: 'Redis answered WRONGTYPE' });
  });

  test('because it is a replica now', async () => {
    const client = await start({});
    const store = redisStore(client);
    await store.load('key');
    await client.replicaof('127.0.0.1', 1);
    await rejection(store.swap('key', change('1'))).toMatchObject({ code: 'READONLY' });
  });

  test('because it is a replica without its master', async () => {
    const client = await start({ 'replica-serve-stale-data': 'no' });
    const store = redisStore(client);
    await store.load('key');
    await client.replicaof('127.0.0.1', 1);
    await rejection(store.load('key')).toMatchObject({ code: 'MASTERDOWN' });
  });

  test('because its memory is full, whichever way the script is sent', async () => {
    const client = await start({ 'maxmemory-policy': 'noeviction' });
    const store = redisStore(client);
    await store.swap('key', change('1'));
    await client.config('SET', 'maxmemory', '1');
    await rejection(store.swap('key', change('2', '1'))).toMatchObject({ code: 'OOM' });
    await client.script('FLUSH');
    await rejection(store.swap('key', change('2', '1'))).toMatchObject({ code: 'OOM' });
    expect(await store.load('key')).toMatchObject({ version: '1' });
  });

  test('because the user may not run scripts any more', async () => {
    const client = await start({});
    const store = redisStore(client);
    await store.load('key');
    await client.acl('SETUSER', 'default', '-@all');
    await rejection(store.load('key')).toMatchObject({ code: 'NOPERM' });
  });
});

test.runIf(redis)('a user needs no more rights than the documentation says', async () => {
  const administrator = await start({ appendonly: 'yes' });
  const commands = ['eval', 'evalsha', 'time', 'hget', 'hmget', 'hset', 'persist'].map((name) => `+${name}`);
  await administrator.acl('SETUSER', 'fleet', 'on', '>password', 'resetkeys', '~service-auth:*', '-@all', ...commands);
  const client = new Redis(administrator.options.port ?? 0, '127.0.0.1', {
    username: 'fleet',
    password: 'password',
    enableReadyCheck: false,
  });
  endings.push(() => client.disconnect());
  const store = redisStore(client);
  expect(await store.load('key')).toMatchObject({ warnings: [] });
  expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  expect(await store.load('key')).toMatchObject({ version: '1' });
  await expect(redisStore(client, { prefix: 'other:' }).load('key')).rejects.toMatchObject({ code: 'NOPERM' });
});

describe.runIf(redis)('settings that endanger the record', () => {
  async function warningsWith(settings: RedisSettings): Promise<readonly string[] | undefined> {
    return (await redisStore(await start(settings)).load('key')).warnings;
  }

  test('are none on a Redis that appends and does not evict', async () => {
    expect(await warningsWith({ appendonly: 'yes', 'maxmemory-policy': 'noeviction' })).toEqual([]);
    expect(await warningsWith({ appendonly: 'yes', 'maxmemory-policy': 'volatile-ttl' })).toEqual([]);
  });

  test('are eviction of any key, and no persistence', async () => {
    const warnings = await warningsWith({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru' });
    expect(warnings).toHaveLength(2);
    expect(warnings?.[0]).toContain('maxmemory-policy is allkeys-lru');
    expect(warnings?.[1]).toContain('appendonly is off');
  });

  test('are not searched where INFO may not be called', async () => {
    const client = await start({});
    await client.acl('SETUSER', 'default', '-info');
    expect(await redisStore(client).load('key')).toMatchObject({ warnings: [], now: expect.any(Number) });
  });

  test('are reported once by every client, as an event', async () => {
    await using service = await startTestService();
    const store = redisStore(await start({ 'maxmemory-policy': 'allkeys-lfu' }));
    for (const instance of ['one', 'two']) {
      const events: ServiceAuthEvent[] = [];
      await using auth = createServiceAuth({
        ...service.options,
        store,
        instance,
        onEvent: (event) => events.push(event),
      });
      await auth.getToken();
      await auth.getUsage();
      const warnings = events.filter((event) => event.type === 'store_warning');
      expect(warnings).toMatchObject([
        { warning: expect.stringContaining('allkeys-lfu') },
        { warning: expect.stringContaining('appendonly') },
      ]);
    }
  });
});

describe.runIf(redis)('what it costs', () => {
  /** Every script that the server ran, by its own count. */
  async function scriptsRun(client: Redis, run: () => Promise<unknown>): Promise<number> {
    await client.config('RESETSTAT');
    await run();
    const { evalsha = 0, eval: whole = 0 } = await callsOf(client);
    return evalsha + whole;
  }

  test('the process that issues: one load, two swaps, one token request; a process that adopts: one load', async () => {
    await using service = await startTestService();
    const client = await start({});
    const store: Store = redisStore(client);
    // The server knows the scripts from now on, as it does in a fleet.
    await store.load('warm');
    await store.swap('warm', change('1'));
    await using issuing = createServiceAuth({ ...service.options, store });
    expect(await scriptsRun(client, () => issuing.getToken())).toBe(3);
    expect(service.counts.tokenRequests).toBe(1);
    await using adopting = createServiceAuth({ ...service.options, store: redisStore(client) });
    expect(await scriptsRun(client, () => adopting.getToken())).toBe(1);
    expect(service.counts.tokenRequests).toBe(1);
  });
});
