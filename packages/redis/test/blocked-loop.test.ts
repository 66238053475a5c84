import { createServiceAuth, fetchTransport, type Store, type Transport } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { startTestService } from '@service-auth/testing';
import { Redis } from 'ioredis-6';
import { createClient } from 'redis-6';
import { afterAll, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';

const redis = await orSkip(() => startRedis());
const ioredis = new Redis(redis?.url ?? '', { lazyConnect: true });
const nodeRedis = createClient({ url: redis?.url ?? '' });
afterAll(async () => {
  ioredis.disconnect();
  if (nodeRedis.isOpen) nodeRedis.destroy();
  await redis?.stop();
});

/** Keeps the event loop from turning: nothing is read and no timer fires. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** The store, with a loop that stands still right after one call began: before a byte of it left, or after. */
function blockedAt(store: Store, operation: 'load' | 'swap', ms: number, isSent: boolean): Store {
  let blocked = false;
  const once = <Result>(result: Promise<Result>): Promise<Result> => {
    if (blocked) return result;
    blocked = true;
    if (isSent) setImmediate(() => block(ms));
    else block(ms);
    return result;
  };
  return {
    ...store,
    load: (...call) => (operation === 'load' ? once(store.load(...call)) : store.load(...call)),
    swap: (...call) => (operation === 'swap' ? once(store.swap(...call)) : store.swap(...call)),
  };
}

describe.runIf(redis)('an event loop that stood still is no failing store', () => {
  test.each([
    ['ioredis', 'load', 3_000, true],
    ['node-redis', 'load', 2_300, true],
    ['node-redis', 'load', 2_300, false],
    ['node-redis', 'swap', 2_300, true],
  ] as const)('with %s, during a %s, for %i ms, the call sent: %s', async (client, operation, ms, isSent) => {
    if (client === 'node-redis' && !nodeRedis.isOpen) await nodeRedis.connect();
    const store = redisStore(client === 'ioredis' ? ioredis : nodeRedis);
    await using service = await startTestService();
    const failures: string[] = [];
    const auth = createServiceAuth({
      ...service.options,
      clientId: service.options.clientId,
      store: blockedAt(store, operation, ms, isSent),
      onEvent: ({ type }) => {
        if (/failed/.test(type)) failures.push(type);
      },
    });
    await auth.getToken();
    expect([failures, service.counts.issued]).toEqual([[], 1]);
    await auth.close();
    await ioredis.flushall();
  });
});

test.each([1, 2, 4])('nor a failing endpoint, when it stands still %i turns after the request began', async (turns) => {
  await using service = await startTestService();
  const send = fetchTransport();
  const transport: Transport = (request) => {
    const response = send(request);
    let left = turns;
    const wait = () => {
      left -= 1;
      if (left > 0) setImmediate(wait);
      else block(700);
    };
    setImmediate(wait);
    return response;
  };
  const auth = createServiceAuth({ ...service.options, transport, timeoutMs: 500 });
  await auth.getToken();
  expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 0 });
  expect(service.counts.issued).toBe(1);
});
