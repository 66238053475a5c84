import { startUpstashFront } from '@service-auth/test-tools/servers/upstash';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { Redis as IoRedis6 } from 'ioredis-6';
import { Redis as IoValkey } from 'iovalkey';
import { createClient as createClient4 } from 'redis-4';
import { createClient as createClient5 } from 'redis-5';
import { createClient as createClient6 } from 'redis-6';
import type { RedisClient } from '../src/index.ts';

/** A connected client of any library, and how to part with it. */
export interface Connection {
  readonly client: RedisClient;
  close(): Promise<unknown>;
}

interface IoRedisLike {
  on(event: 'error', listener: () => void): unknown;
  disconnect(): void;
}

function ioRedis(client: RedisClient & IoRedisLike): Connection {
  client.on('error', () => {});
  return { client, close: async () => client.disconnect() };
}

/** A client of Upstash, with an HTTP server of its own before the Redis. */
export async function upstash(url: string, settings: { automaticDeserialization?: boolean } = {}): Promise<Connection> {
  const front = await startUpstashFront(url);
  return { client: new UpstashRedis({ url: front.url, token: 'test', ...settings }), close: front.close };
}

/** Every client that is supported, connected to a server. */
export const clients: Record<string, (url: string) => Promise<Connection>> = {
  async 'node-redis 4'(url) {
    const client = createClient4({ url }).on('error', () => {});
    await client.connect();
    return { client, close: () => client.disconnect() };
  },
  async 'node-redis 5'(url) {
    const client = createClient5({ url }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  async 'node-redis 6'(url) {
    const client = createClient6({ url }).on('error', () => {});
    await client.connect();
    return { client, close: async () => client.destroy() };
  },
  'ioredis 5': async (url) => ioRedis(new IoRedis5(url)),
  'ioredis 6': async (url) => ioRedis(new IoRedis6(url)),
  iovalkey: async (url) => ioRedis(new IoValkey(url)),
  '@upstash/redis': (url) => upstash(url),
};
