import { createServiceAuth, type ServiceAuthEvent } from '@service-auth/core';
import { createClient as createClient4 } from 'redis-4';
import { createClient as createClient5 } from 'redis-5';
import { createClient as createClient6 } from 'redis-6';
import { expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';

const url = 'redis://:password@127.0.0.1:9';

test.each([
  ['nothing', undefined],
  ['a URL', 'redis://127.0.0.1:6379'],
  ['a client that is still awaited', Promise.resolve()],
  ['another object', { get() {} }],
  ['a client of redis 3, whose methods take callbacks', { eval() {}, evalsha() {}, send_command() {} }],
  ['a client of Valkey GLIDE', { invokeScript() {}, customCommand() {} }],
])('refuses %s at once', (_, client) => {
  expect(() => redisStore(client as never)).toThrow(
    new TypeError(
      '[service-auth/redis] redisStore(client) takes a client of redis 4 to 6, ioredis 5 or 6, iovalkey or @upstash/redis, not its URL and not a promise.',
    ),
  );
});

test('refuses a prefix that is no text at once', () => {
  const message = '[service-auth/redis] The option `prefix` must be a string.';
  expect(() => redisStore(createClient6({ url }), { prefix: 5 as never })).toThrow(new TypeError(message));
});

test('the same client and prefix give the same store, so that clients share its reads', () => {
  const client = createClient6({ url });
  expect(redisStore(client)).toBe(redisStore(client, { prefix: 'service-auth:' }));
  expect(redisStore(client)).not.toBe(redisStore(client, { prefix: 'staging:' }));
  expect(redisStore(client)).not.toBe(redisStore(createClient6({ url })));
});

test('messages name Redis and the prefix', () => {
  const client = createClient6({ url });
  expect(redisStore(client).name).toBe('Redis (prefix service-auth:)');
  expect(redisStore(client, { prefix: 'staging:' }).name).toBe('Redis (prefix staging:)');
});

test.each([
  ['4', createClient4({ url })],
  ['5', createClient5({ url })],
  ['6', createClient6({ url })],
] as const)('says what to do with a node-redis %s that is not connected', async (_, client) => {
  const events: ServiceAuthEvent[] = [];
  const auth = createServiceAuth({
    authUrl: 'http://127.0.0.1:9',
    audience: 'https://api.example.com/',
    clientId: 'client',
    clientSecret: 'secret',
    store: redisStore(client),
    onEvent: (event) => events.push(event),
  });
  const advice =
    'the client was closed, or it was never connected: await its connect(), and close it after auth.close().';
  await expect(auth.getToken()).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: expect.stringContaining(
      `(ClosedClient). Check the store and try again: ${advice} The store is Redis (prefix service-auth:). The next attempt`,
    ),
  });
  expect(events).toMatchObject([
    { type: 'store_failed', error: 'ClosedClient', advice },
    { type: 'token_unavailable', code: 'ERR_STORE' },
  ]);
});
