import { createServiceAuth } from '@service-auth/core';
import { Redis as IoRedis5 } from 'ioredis-5';
import { createClient as createClient4 } from 'redis-4';
import { createClient as createClient6 } from 'redis-6';
import { expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';

// Nobody listens on the port 9 of loopback.
const url = 'redis://127.0.0.1:9';

test.concurrent.each([
  ['node-redis 4', () => createClient4({ url })],
  ['node-redis 6', () => createClient6({ url })],
  ['ioredis 5', () => new IoRedis5(url, { lazyConnect: true })],
])(
  'while a Redis is down, the error of %s names the cause and the store, and the second call does not wait',
  {
    timeout: 30_000,
  },
  async (clientId, create) => {
    const client = create();
    const seen: unknown[] = [];
    client.on('error', (error: unknown) => seen.push(error));
    void client.connect().catch(() => {});
    const auth = createServiceAuth({
      authUrl: 'http://127.0.0.1:9',
      audience: 'https://api.example.com/',
      clientId,
      clientSecret: 'secret',
      store: redisStore(client),
    });
    const first = await auth.getToken().catch((error: Error) => error);
    const second = await auth.getToken().catch((error: Error) => error);
    expect(first).toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringMatching(/ECONNREFUSED.* The store is Redis \(prefix service-auth:\)\. The next attempt/),
    });
    // The same instant of the next attempt: nobody asked Redis again.
    expect(second).toMatchObject({ code: 'ERR_STORE', message: (first as Error).message });
    expect(seen).not.toEqual([]);
    await client.disconnect();
    await auth.close();
  },
);
