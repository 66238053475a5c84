import { once } from 'node:events';
import { storeContract } from '@service-auth/testing';
import { Cluster as Cluster5 } from 'ioredis-5';
import { Cluster as Cluster6, Redis } from 'ioredis-6';
import { createCluster as createCluster4 } from 'redis-4';
import { createCluster as createCluster5 } from 'redis-5';
import { createCluster as createCluster6 } from 'redis-6';
import { afterAll, describe, expect, test } from 'vitest';
import { orSkip } from '../../../scripts/servers/or-skip.ts';
import { startRedis } from '../../../scripts/servers/redis.ts';
import { freePort } from '../../../scripts/servers/server.ts';
import { redisStore } from '../src/index.ts';
import type { Connection } from './clients.ts';

const lastSlot = 16_383;

// A cluster of one node: clients find it, ask it for its slots and route by key as they do with many.
const node = await orSkip(async () =>
  startRedis({ 'cluster-enabled': 'yes', 'cluster-port': `${await freePort()}`, 'cluster-announce-ip': '127.0.0.1' }),
);
const url = node?.url ?? '';
const administrator = node && new Redis(url);
if (administrator) {
  await administrator.cluster('ADDSLOTSRANGE', 0, lastSlot);
  while (!/cluster_state:ok/.test(await administrator.cluster('INFO'))) await administrator.cluster('SLOTS');
}
afterAll(async () => {
  administrator?.disconnect();
  await node?.stop();
});

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
  async 'ioredis 5'() {
    const client = new Cluster5([url]);
    await once(client, 'ready');
    return { client, close: async () => client.disconnect() };
  },
  async 'ioredis 6'() {
    const client = new Cluster6([url]);
    await once(client, 'ready');
    return { client, close: async () => client.disconnect() };
  },
};

for (const [name, connect] of Object.entries(clusters)) {
  describe.runIf(node)(`the contract of stores, with a cluster and ${name}`, () => {
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
}

test.runIf(node)('a cluster that does not serve the slot of the key is down', async () => {
  const client = new Redis(url);
  const store = redisStore(client);
  await store.load('key');
  await client.cluster('DELSLOTSRANGE', 0, lastSlot);
  await expect(store.load('key')).rejects.toMatchObject({ code: 'CLUSTERDOWN' });
  await client.cluster('ADDSLOTSRANGE', 0, lastSlot);
  client.disconnect();
});
