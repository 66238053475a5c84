import { setImmediate } from 'node:timers/promises';
import { createServiceAuth, type ServiceAuthEvent } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { createTestClock, startTestService, type TestClock } from '@service-auth/testing';
import { Redis } from 'ioredis-6';
import { afterAll, describe, expect, test } from 'vitest';
import { redisStore } from '../src/index.ts';

const redis = await orSkip(() => startRedis());
const client = new Redis(redis?.url ?? '', { lazyConnect: true });
afterAll(async () => {
  client.disconnect();
  await redis?.stop();
});

/** Clients of one service over one Redis, as processes would be. */
async function startFleet(clock?: TestClock) {
  const service = await startTestService({ clock });
  const events: ServiceAuthEvent[] = [];
  const join = (instance: string) =>
    createServiceAuth({
      ...service.options,
      instance,
      store: redisStore(client),
      onEvent: (event) => events.push(event),
    });
  return { service, events, join, [Symbol.asyncDispose]: () => service.close() };
}

describe.runIf(redis)('clients over one Redis', () => {
  test('share one token and one count', async () => {
    await using fleet = await startFleet();
    const { service, join } = fleet;
    const members = Array.from({ length: 20 }, (_, index) => join(`process ${index}`));
    const tokens = await Promise.all(members.map((auth) => auth.getToken()));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
    for (const auth of members) expect(await auth.getUsage()).toMatchObject({ limit: 150, usable: 75, used: 1 });
  });

  test('lose nothing to FLUSHALL: those who know the record put it back, token included', async () => {
    const clock = createTestClock({ now: Date.now() });
    await using fleet = await startFleet(clock);
    const { service, events, join } = fleet;
    const [issuing, adopting] = [join('issuing'), join('adopting')];
    const token = await issuing.getToken();
    await adopting.getToken();
    await client.flushall();

    // Callers continue; after 25 seconds one of their calls revalidates the record.
    await clock.advance(26_000);
    for (const auth of [issuing, adopting]) expect((await auth.getToken()).value).toBe(token.value);
    const losses = () => events.flatMap((event) => (event.type === 'ledger_lost' ? [event.restored] : []));
    while (losses().length === 0) await setImmediate();
    await Promise.all([issuing.close(), adopting.close()]);
    expect(losses()).toContain(1);

    const newcomer = join('newcomer');
    expect((await newcomer.getToken()).value).toBe(token.value);
    expect(await newcomer.getUsage()).toMatchObject({ used: 1, issuances: [{ id: token.id, instance: 'issuing' }] });
    expect(service.counts.tokenRequests).toBe(1);
  });

  test('of different Redis databases count on their own', async () => {
    await using fleet = await startFleet();
    const { service, join } = fleet;
    await join('one').getToken();
    const other = new Redis(redis?.url ?? '', { db: 1 });
    await createServiceAuth({ ...service.options, store: redisStore(other) }).getToken();
    other.disconnect();
    expect(service.counts.issued).toBe(2);
  });
});
