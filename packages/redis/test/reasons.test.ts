// What the store says when the server or the client refuses a call.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoRedis6 } from 'ioredis-6';
import { createClient as createClient4 } from 'redis-4';
import { createClient } from 'redis-6';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';
import { clients } from './clients.ts';

const redis = await orSkip(() => startRedis({ appendonly: 'yes' }));
afterAll(() => redis?.stop());
const url = redis?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function ioredis(settings: object = {}): IoRedis6 {
  const client = new IoRedis6(url, settings);
  client.on('error', () => {});
  endings.push(() => client.disconnect());
  return client;
}

async function allow(user: string, ...rules: string[]): Promise<void> {
  await ioredis().call('ACL', 'SETUSER', user, 'reset', 'on', '>canary-password', ...rules);
}

const change = { version: '1', record: 'record' };

describe.runIf(redis)('the error of a call', () => {
  test.each([
    ['evalsha', '+eval +hget +hset +hmget +persist +time'],
    ['eval', '+evalsha +hget +hset +hmget +persist +time'],
  ])('without the right to %s names it', async (command, rights) => {
    await allow('guest', '~*', '+info', ...rights.split(' '));
    if (command === 'eval') await ioredis().call('SCRIPT', 'FLUSH');
    const client = ioredis({ username: 'guest', password: 'canary-password', enableReadyCheck: false });
    const error = await redisStore(client)
      .load('key')
      .catch((error: Error) => error);
    expect(error).toMatchObject({ name: 'MissingRights', code: 'NOPERM' });
    expect(error).toHaveProperty('advice', expect.stringMatching(new RegExp(`may not run ${command}[.;].*\\+evalsha`)));
    expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/guest|canary-password/);
  });

  test('without the right to a command of its script names all of them', async () => {
    await allow('guest', '~*', '+evalsha', '+eval', '+time', '+info');
    const client = ioredis({ username: 'guest', password: 'canary-password', enableReadyCheck: false });
    await expect(redisStore(client).load('key')).rejects.toMatchObject({
      name: 'MissingRights',
      advice: expect.stringContaining('+hmget'),
    });
  });

  test('without the right to the key names the keys', async () => {
    await allow('other', '~app:*', '+@all');
    const client = ioredis({ username: 'other', password: 'canary-password' });
    await expect(redisStore(client).load('key')).rejects.toMatchObject({
      name: 'MissingRights',
      code: 'NOPERM',
      advice: expect.stringContaining('every key of the prefix'),
    });
  });

  test.each([
    ['that was disconnected', {}, (client: IoRedis6) => client.disconnect(), 'ClosedClient'],
    [
      'that does not queue and has no connection',
      { enableOfflineQueue: false, lazyConnect: true },
      undefined,
      'NotConnected',
    ],
    [
      'that knows no such user',
      { username: 'nobody', password: 'canary-password', enableReadyCheck: false },
      undefined,
      'WrongPassword',
    ],
  ] as const)('of an ioredis %s', async (_, settings, prepare, name) => {
    const client = ioredis(settings);
    prepare?.(client);
    await expect(redisStore(client).load('key')).rejects.toMatchObject({ name, advice: expect.any(String) });
  });

  test.each([
    ['in subscriber mode', url, 'WrongClient'],
    ['whose connection cannot be made', 'redis://:canary-password@127.0.0.1:9', 'Unreachable'],
  ])('of an ioredis 5 %s', async (_, address, name) => {
    const client = new IoRedis5(address, { maxRetriesPerRequest: 0 });
    client.on('error', () => {});
    endings.push(() => client.disconnect());
    if (address === url) await client.subscribe('channel');
    const error = await redisStore(client)
      .load('key')
      .catch((error: Error) => error);
    expect(error).toMatchObject({ name, advice: expect.any(String) });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain('canary-password');
  });

  test('is that of the call, not that of a connection before it', async () => {
    const client = new IoRedis5(url);
    client.on('error', () => {});
    endings.push(() => client.disconnect());
    const store = redisStore(client);
    await client.subscribe('channel');
    client.emit('error', Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    await expect(store.load('key')).rejects.toMatchObject({ name: 'WrongClient' });
  });

  test('of a server without the replicas that it asks for says so', async () => {
    const server = await startRedis({ 'min-replicas-to-write': '1' });
    endings.push(() => server.stop());
    const client = new IoRedis5(server.url);
    endings.push(() => client.disconnect());
    await expect(redisStore(client).swap('key', change)).rejects.toMatchObject({
      name: 'MissingReplicas',
      code: 'NOREPLICAS',
      advice: expect.stringContaining('min-replicas-to-write'),
    });
  });

  test('of an ioredis whose command timed out', async () => {
    const client = ioredis({ commandTimeout: 50, enableReadyCheck: false });
    await ioredis().call('CLIENT', 'PAUSE', '300');
    await expect(redisStore(client).load('key')).rejects.toMatchObject({ name: 'SlowAnswer' });
  });

  test('of a replica says to connect to the primary', async () => {
    const replica = await startRedis({ replicaof: `127.0.0.1 ${redis?.port}` });
    endings.push(() => replica.stop());
    const client = new IoRedis5(replica.url);
    endings.push(() => client.disconnect());
    await expect(redisStore(client).swap('key', change)).rejects.toMatchObject({
      name: 'ReadOnlyServer',
      code: 'READONLY',
      advice: expect.stringContaining('connect to the primary server'),
    });
  });

  test('of a server without memory', async () => {
    const server = await startRedis({ maxmemory: '1' });
    endings.push(() => server.stop());
    const client = new IoRedis5(server.url);
    endings.push(() => client.disconnect());
    await expect(redisStore(client).swap('key', change)).rejects.toMatchObject({ name: 'FullMemory', code: 'OOM' });
  });

  // As Upstash documents them: https://upstash.com/docs/redis/troubleshooting
  test.each([
    ['ERR max requests limit exceeded. Limit: 500000, Usage: 500000.', 'SpentQuota'],
    ['ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.', 'SpentQuota'],
    ['ERR DB capacity quota exceeded', 'FullMemory'],
    ['ERR max concurrent connections exceeded', 'TooManyConnections'],
    ['WRONGPASS invalid or missing auth token', 'WrongPassword'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'MissingRights'],
  ])('of a client of Upstash that is answered "%s"', async (answer, name) => {
    const server = createServer((_, response) => response.writeHead(400).end(JSON.stringify({ error: answer })));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    endings.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = new UpstashRedis({ url: `http://127.0.0.1:${port}`, token: 'canary-password' });
    await expect(redisStore(client).load('key')).rejects.toMatchObject({ name, advice: expect.any(String) });
  });

  test('of a connection on which the application began a transaction', async () => {
    const client = createClient({ url });
    endings.push(() => client.destroy());
    await client.connect();
    await client.sendCommand(['MULTI']);
    await expect(redisStore(client).load('key')).rejects.toMatchObject({ name: 'OpenTransaction' });
  });
});

test('a client of node-redis 4 with legacyMode is refused, and its v4 is taken', () => {
  const client = createClient4({ legacyMode: true });
  expect(() => redisStore(client)).toThrow(/no client with legacyMode/);
  expect(redisStore(client.v4 as never).durability).toBe('replicated');
});

describe('a client whose replies do not come one by one', () => {
  type Any = Record<string, (...argv: unknown[]) => unknown>;
  const shapes = ['multi', 'pipeline', 'legacy', 'batch'];

  for (const [name, connect] of Object.entries(clients)) {
    test.runIf(redis)(`is refused, made of ${name}, which itself is taken`, async () => {
      const { client, close } = await connect(url);
      endings.push(close);
      redisStore(client);
      const others = shapes.filter((shape) => typeof (client as unknown as Any)[shape] === 'function');
      expect(others).toContain('multi');
      for (const shape of others) {
        const other = (client as unknown as Any)[shape]?.() as Any;
        expect(() => redisStore(other as never), shape).toThrow(/not a transaction, pipeline or legacy\(\)/);
        if (shape === 'legacy') expect(() => redisStore(other['multi']?.() as never)).toThrow(TypeError);
      }
    });
  }
});
