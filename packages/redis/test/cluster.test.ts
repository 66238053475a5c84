import { once } from 'node:events';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { firstSlot, startRedisCluster } from '@service-auth/test-tools/servers/redis-cluster';
import type { TestServer } from '@service-auth/test-tools/servers/server';
import { storeContract } from '@service-auth/testing';
import { Cluster as IoRedis5 } from 'ioredis-5';
import { Cluster as IoRedis6, Redis } from 'ioredis-6';
import { Cluster as IoValkey } from 'iovalkey';
import { createCluster as createCluster4 } from 'redis-4';
import { createCluster as createCluster5 } from 'redis-5';
import { createCluster as createCluster6 } from 'redis-6';
import { afterAll, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';
import type { Connection } from './clients.ts';

interface Node {
  readonly server: TestServer;
  /** Connected to this node alone. */
  readonly administrator: Redis;
}

const nodes = ((await orSkip(startRedisCluster)) ?? []).map(
  (server): Node => ({ server, administrator: new Redis(server.url) }),
);
const size = nodes.length;
const url = nodes[0]?.server.url ?? '';
afterAll(async () => {
  for (const { server, administrator } of nodes) {
    administrator.disconnect();
    await server.stop();
  }
});

async function ioRedis(client: IoRedis5 | IoRedis6 | IoValkey): Promise<Connection> {
  await once(client, 'ready');
  return { client, close: async () => client.disconnect() };
}

const clusters: Record<string, () => Promise<Connection>> = {
  async 'node-redis 4'() {
    const client = createCluster4({ rootNodes: [{ url }] }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.disconnect() };
  },
  async 'node-redis 5'() {
    const client = createCluster5({ rootNodes: [{ url }] }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  async 'node-redis 6'() {
    const client = createCluster6({ rootNodes: [{ url }] }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  'ioredis 5': () => ioRedis(new IoRedis5([url])),
  'ioredis 6': () => ioRedis(new IoRedis6([url])),
  iovalkey: () => ioRedis(new IoValkey([url])),
};

for (const [name, connect] of Object.entries(clusters)) {
  describe.runIf(url)(`the contract of stores, with a cluster and ${name}`, () => {
    const cases = storeContract(async () => {
      const connections: Connection[] = [];
      async function another() {
        const connection = await connect();
        connections.push(connection);
        return redisStore(connection.client, { prefix: `${name}:` });
      }
      return { store: await another(), another, close: () => Promise.all(connections.map(({ close }) => close())) };
    });
    for (const { name, run } of cases) test(name, run);
  });

  test.runIf(url)(`a key whose slot moves to another node is followed there, with ${name}`, async () => {
    // A slot that contains keys cannot be moved.
    for (const { administrator } of nodes) await administrator.flushall();
    const { client, close } = await connect();
    const store = redisStore(client, { prefix: `${name}:` });
    await store.load('moving');
    const slot = `${await nodes[0]?.administrator.cluster('KEYSLOT', `${name}:moving`)}`;
    const owner = nodes.findIndex((_, index) => Number(slot) < firstSlot(index + 1, size));
    const target = nodes[(owner + 1) % size];
    const id = `${await target?.administrator.call('CLUSTER', 'MYID')}`;
    for (const { administrator } of nodes) await administrator.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
    const change = { version: '1', record: 'after the move' };
    expect(await store.swap('moving', change)).toMatchObject({ swapped: true });
    expect(await target?.administrator.hget(`${name}:moving`, 'record')).toBe('after the move');
    await close();
  });
}

test.runIf(url)('a script is sent as a command that writes, because a replica may answer one that reads', async () => {
  const client = createCluster6({ rootNodes: [{ url }] }).on('error', () => {});
  await client.connect();
  const asReader: boolean[] = [];
  const watched = {
    masters: client.masters,
    sendCommand(firstKey: string, isReadonly: boolean, command: string[]) {
      asReader.push(isReadonly);
      return client.sendCommand(firstKey, isReadonly, command);
    },
  };
  const store = redisStore(watched, { prefix: 'written:' });
  await store.load('key');
  await store.swap('key', { version: '1', record: 'record' });
  expect(new Set(asReader)).toEqual(new Set([false]));
  client.destroy();
});

test.runIf(url)(
  'an error of the connection is no reason for silence any more when the cluster has answered',
  async () => {
    // The clusters of node-redis have no event that says so.
    const client = createCluster6({ rootNodes: [{ url }] }).on('error', () => {});
    await client.connect();
    const store = redisStore(client, { prefix: 'answered:' });
    client.emit('error', Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    expect(store.adviceIfSilent).toContain('ECONNRESET');
    await store.load('key');
    expect(store.adviceIfSilent).toBeUndefined();
    client.destroy();
  },
);

test.runIf(url)('a client of one node is told to be one of the cluster', async () => {
  const client = new Redis(url);
  const own = await keyOf(client);
  client.disconnect();
  const other = new Redis(nodes[1]?.server.url ?? '');
  await expect(redisStore(other).load(own)).rejects.toMatchObject({
    name: 'WrongNode',
    code: 'MOVED',
    advice: expect.stringContaining('createCluster()'),
  });
  other.disconnect();
});

test.runIf(url)('a cluster that does not serve all of its slots is down', async () => {
  const client = new Redis(url);
  const store = redisStore(client);
  const own = await keyOf(client);
  await store.load(own);
  await client.cluster('DELSLOTSRANGE', 0, 10);
  await expect(store.load(own)).rejects.toMatchObject({ name: 'IncompleteCluster', code: 'CLUSTERDOWN' });
  client.disconnect();
});

/** A key that is the first node's to serve. */
async function keyOf(client: Redis): Promise<string> {
  for (let number = 0; ; number += 1) {
    const slot = await client.cluster('KEYSLOT', `service-auth:${number}`);
    if (slot > 10 && slot < firstSlot(1, size) - 1) return `${number}`;
  }
}
