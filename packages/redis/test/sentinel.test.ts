import { createServiceAuth } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis, startSentinel } from '@service-auth/test-tools/servers/redis';
import { until } from '@service-auth/test-tools/servers/server';
import { startTestService } from '@service-auth/testing';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoRedis6 } from 'ioredis-6';
import { Redis as IoValkey } from 'iovalkey';
import { createSentinel as createSentinel5 } from 'redis-5';
import { createSentinel as createSentinel6 } from 'redis-6';
import { afterAll, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';
import type { Connection } from './clients.ts';

const endings: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A master, a replica that has all that the master has, and a Sentinel that knows both. */
const servers = await orSkip(async () => {
  const master = await startRedis();
  endings.push(() => master.stop());
  const replica = await startRedis();
  endings.push(() => replica.stop());
  const administrator = new IoRedis6(replica.url);
  endings.push(() => administrator.disconnect());
  await administrator.replicaof('127.0.0.1', master.port);
  await until('the replica has what the master has', async () =>
    /master_link_status:up/.test(await administrator.info('replication')),
  );
  const sentinel = await startSentinel(master);
  endings.push(() => sentinel.stop());
  const asked = new IoRedis6(sentinel.url);
  endings.push(() => asked.disconnect());
  await until('the Sentinel knows the replica', async () => /slaves=1/.test(await asked.info('sentinel')));
  return { master, replica, sentinel };
});

const node = { host: '127.0.0.1', port: servers?.sentinel.port ?? 0 };
const sentinels = [node];

function ioRedis(client: IoRedis5 | IoRedis6 | IoValkey): Connection {
  client.on('error', () => {});
  return { client, close: async () => client.disconnect() };
}

const clients: Record<string, () => Promise<Connection>> = {
  async 'node-redis 5'() {
    const client = createSentinel5({ name: 'master', sentinelRootNodes: sentinels }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  async 'node-redis 6'() {
    const client = createSentinel6({ name: 'master', sentinelRootNodes: sentinels }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  'ioredis 5': async () => ioRedis(new IoRedis5({ sentinels, name: 'master' })),
  'ioredis 6': async () => ioRedis(new IoRedis6({ sentinels, name: 'master' })),
  iovalkey: async () => ioRedis(new IoValkey({ sentinels, name: 'master' })),
};

test.runIf(servers)(
  'a failover to a replica is followed by every client, and costs no token',
  async () => {
    await using service = await startTestService();
    const members = [];
    for (const [instance, connect] of Object.entries(clients)) {
      const { client, close } = await connect();
      endings.push(close);
      const store = redisStore(client);
      members.push({ store, auth: createServiceAuth({ ...service.options, instance, store }) });
    }
    const tokens = await Promise.all(members.map(({ auth }) => auth.getToken()));
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(1);

    await servers?.master.kill();
    for (const { store, auth } of members) {
      const written = async (): Promise<unknown> => {
        const swapped = store.swap(
          'after the failover',
          { version: '1', record: 'r' },
          { signal: AbortSignal.timeout(500) },
        );
        return swapped.catch(written);
      };
      expect(await written()).toMatchObject({ swapped: true });
      expect(await auth.getUsage()).toMatchObject({ used: 1, issuances: [{ id: tokens[0]?.id }] });
    }
    await using newcomer = createServiceAuth({ ...service.options, store: members[0]?.store });
    expect((await newcomer.getToken()).id).toBe(tokens[0]?.id);
    expect(service.counts.issued).toBe(1);
  },
  60_000,
);
