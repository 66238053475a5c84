import { describe, expect, test } from 'vitest';
import type { ServiceAuth, ServiceAuthOptions } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { settled } from './support/manual-clock.ts';
import { answering, silent } from './support/scripted-endpoint.ts';

/** Spends tokens of a budget: each audience has one of its own. */
async function spend({ client, token }: Bed, count: number, options: Partial<ServiceAuthOptions> = {}): Promise<void> {
  for (let spent = 0; spent < count; spent++)
    await token(client({ ...options, audience: `audience ${spent} of ${count}` }));
}

describe('the limit', () => {
  test.each([
    ['process', 120, 110],
    ['durable', 120, 28],
    ['replicated', 75, 23],
  ] as const)('a new %s store: nothing is sent beyond what it may spend', async (durability, usable, issued) => {
    const bed = createBed(durability);
    await spend(bed, issued);
    const auth = bed.client();
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(auth.getToken()));
    const isNew = durability !== 'process';
    const until = bed.clock.now() + 27 * hour;
    const newRecord = isNew ? { allowed: issued, until } : undefined;
    expect(error).toMatchObject({ limit: 150, used: issued, usable });
    expect(error.newRecord).toEqual(newRecord);
    expect(error.retryAt).toBeGreaterThan(bed.clock.now() + 24 * hour);
    // The state is not "spent": the rest is kept back, and the message begins with the reason.
    expect(error.message).toContain(
      isNew
        ? `[service-auth] The record is new, so until ${new Date(until).toISOString()} only ${issued} of 150 tokens may be issued. No request was sent. If you know how many it has not seen, say so: service-auth record spent N --reason TEXT. service-auth explain names who spent them.`
        : '[service-auth] The limit is reached: 110 of 120 usable tokens are spent (limit 150 in 24 h), so no request was sent. The rest is kept for more urgent purposes, such as reset(). getUsage() names who spent them.',
    );
    expect(bed.endpoint.requests.length).toBe(issued);
    expect(bed.eventsOf('issuance_refused')).toMatchObject([
      { reason: 'cold', limit: 150, used: issued, usable, windowMs: day, newRecord, retryAt: error.retryAt },
    ]);
    const usage = await auth.getUsage();
    expect(usage).toMatchObject({ usable, used: issued, remaining: usable - issued, refusedUntil: error.retryAt });
    expect(usage.newRecord).toEqual(isNew ? { allowed: issued, remaining: 0, until } : undefined);
    await bed.clock.advance(error.retryAt - bed.clock.now() - 1);
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(auth.getToken()));
    await bed.clock.advance(1);
    await bed.token(auth);
  });

  test('that leaves no renewal ahead of expiry leaves one after a 401', async () => {
    const bed = createBed('process');
    // The renewal may use 84 of 120, a 401 as many as a first token.
    await spend(bed, 83);
    const auth = bed.client();
    const first = await bed.token(auth);
    await bed.clock.advance(0.92 * day);
    await bed.use(auth, minute);
    expect(bed.eventsOf('issuance_refused')).toMatchObject([{ reason: 'refresh' }]);
    await auth.invalidate(first);
    expect((await bed.token(auth)).value).not.toBe(first.value);
    expect(bed.eventsOf('token_rejected')).toMatchObject([{ outcome: 'renew' }]);
  });

  test('once a shared store is older than a window, it may spend all but the reserve', async () => {
    const bed = createBed();
    await bed.token(bed.client());
    await bed.clock.advance(2 * day);
    expect((await bed.client().getUsage()).newRecord).toBeUndefined();
    await spend(bed, 110);
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(bed.client().getToken()));
  });

  test.each([1, 2, 3, 5])('of %i: works for a day at a time, and never sends more', async (tokens) => {
    const bed = createBed();
    const options = { issuanceLimit: { tokens } };
    const auth = bed.client(options);
    const requestedAt: number[] = [];
    bed.endpoint.otherwise((request) => {
      requestedAt.push(bed.clock.monotonic());
      return bed.endpoint.issue(request);
    });
    for (let now = 0; now < 10 * day; now += hour) {
      await bed.clock.until(auth.getToken()).catch(() => {});
      await bed.clock.advance(hour);
    }
    const inDays = requestedAt.map((from) => requestedAt.filter((at) => at >= from && at < from + day).length);
    expect(Math.max(...inDays)).toBeLessThanOrEqual(tokens);
    expect(requestedAt.length).toBeGreaterThanOrEqual(9);
  });

  test('of another size and window is kept just so', async () => {
    const bed = createBed('process');
    const options = { issuanceLimit: { tokens: 10, windowMs: hour, reserve: 0 } };
    await spend(bed, 10, options);
    const auth = bed.client(options);
    const { retryAt } = await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(auth.getToken()));
    expect(retryAt - bed.clock.now()).toBeGreaterThan(hour);
    expect(retryAt - bed.clock.now()).toBeLessThan(1.1 * hour);
    await bed.clock.advance(retryAt - bed.clock.now());
    await bed.token(auth);
    expect(bed.endpoint.requests.length).toBe(11);
  });

  test('of more than 150 keeps working beyond 150, and counts every token', async () => {
    const bed = createBed('process');
    const options = { issuanceLimit: { tokens: 400, reserve: 0 } };
    await spend(bed, 160, options);
    const usage = await bed.client(options).getUsage();
    expect(usage).toMatchObject({ used: 160, usable: 400, remaining: 240 });
    expect(usage.issuances).toHaveLength(150);
  });

  test('is not touched by callers while the token in memory lives', async () => {
    const bed = createBed('process');
    const auth = bed.client();
    const first = await bed.token(auth);
    await spend(bed, 109);
    expect(await bed.use(auth, hour, minute)).toEqual([first]);
  });
});

describe('getUsage', () => {
  test('of a new client says that nothing is spent, and costs nothing', async () => {
    const { client, clock, endpoint, store } = createBed();
    expect(await client().getUsage()).toEqual({
      limit: 150,
      usable: 120,
      used: 0,
      underWay: 0,
      unknown: 0,
      pending: 0,
      remaining: 120,
      availableNow: 28,
      available: { cold: 28, refresh: 28, rejected: 1, reset: 30 },
      nextFreeAt: undefined,
      refusedUntil: undefined,
      refusedBecause: undefined,
      spentAt: undefined,
      newRecord: { allowed: 28, remaining: 28, until: clock.now() + 27 * hour },
      windowMs: day,
      windows: [
        {
          tokens: 150,
          windowMs: day,
          usable: 120,
          used: 0,
          pending: 0,
          remaining: 120,
          nextFreeAt: undefined,
          own: true,
        },
      ],
      holds: [],
      tokens: [],
      recordId: undefined,
      storeAheadMs: 0,
      warnings: [],
      issuances: [],
      resets: [],
    });
    expect([endpoint.requests.length, store.calls.swap]).toEqual([0, 0]);
  });

  test('says who spent what, when and why, the newest first', async () => {
    const { client, clock, token, endpoint } = createBed();
    const worker = client({ instance: 'worker' });
    const startedAt = clock.now();
    const first = await token(worker);
    await clock.advance(hour);
    const web = client({ instance: 'web', audience: 'invoices' });
    endpoint.next(answering(502));
    await failure('ERR_TOKEN_ENDPOINT', web.getToken());
    const usage = await worker.getUsage();
    expect(usage).toMatchObject({
      used: 2,
      pending: 1,
      remaining: 118,
      nextFreeAt: startedAt + 25 * hour + 10 * minute,
    });
    expect(usage.issuances).toEqual([
      {
        id: expect.any(String),
        at: startedAt + hour,
        reason: 'cold',
        instance: 'web',
        audience: 'invoices',
        pending: true,
      },
      { id: first.id, at: startedAt, reason: 'cold', instance: 'worker', audience: 'orders', pending: false },
    ]);
  });

  test('shows a request under way as pending, and forgets what left the window', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    endpoint.next(silent);
    auth.getToken().catch(() => {});
    await settled();
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
    await clock.advance(2 * minute);
    await token(auth);
    await clock.advance(25 * hour + 10 * minute);
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
    await clock.advance(2 * hour);
    expect(await auth.getUsage()).toMatchObject({ used: 0, issuances: [] });
  });

  test('speaks of this machine’s clock, whatever the store’s says', async () => {
    const { client, clock, token, store } = createBed();
    store.aheadMs = -100 * day;
    const auth = client();
    await token(auth);
    await clock.advance(hour);
    clock.step(7 * hour);
    const usage = await auth.getUsage();
    expect(usage.issuances[0]?.at).toBe(clock.now() - hour);
    expect(usage.nextFreeAt).toBe(clock.now() + 24 * hour + 10 * minute);
  });
});

describe('many audiences over a day', () => {
  test('no 24 hours contain more tokens than may be spent, whatever is asked', async () => {
    const bed = createBed('process');
    const options = { issuanceLimit: { tokens: 20 } };
    const issuedAt: number[] = [];
    bed.endpoint.otherwise((request) => {
      issuedAt.push(bed.clock.monotonic());
      return bed.endpoint.issueWith({ expires_in: 3_600 })(request);
    });
    const clients: ServiceAuth[] = Array.from({ length: 6 }, (_, index) =>
      bed.client({ ...options, audience: `${index}` }),
    );
    for (let elapsed = 0; elapsed < 3 * day; elapsed += 20 * minute) {
      for (const auth of clients) await bed.clock.until(auth.getToken()).catch(() => {});
      await bed.clock.advance(20 * minute + second);
    }
    const inDays = issuedAt.map((from) => issuedAt.filter((at) => at >= from && at < from + day).length);
    expect(Math.max(...inDays)).toBeLessThanOrEqual(16);
    expect(issuedAt.length).toBeGreaterThan(30);
  });
});

describe('a limit', () => {
  test('is not charged for two hundred requests under way that the endpoint refuses', async () => {
    const bed = createBed();
    const issuanceLimit = { tokens: 300, reserve: 0 };
    bed.endpoint.otherwise(answering(403, '{"error":"access_denied"}'));
    const clients = Array.from({ length: 200 }, (_, index) => bed.client({ issuanceLimit, audience: `${index}` }));
    const ended = await bed.clock.until(Promise.allSettled(clients.map((auth) => auth.getToken())));
    expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    expect(bed.endpoint.requests).toHaveLength(200);
    expect(await bed.client({ issuanceLimit }).getUsage()).toMatchObject({ used: 0, pending: 0 });
  });
});
