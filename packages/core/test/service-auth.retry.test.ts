import { describe, expect, test } from 'vitest';
import { memoryStore, type ServiceAuth } from '../src/index.ts';
import { type Bed, createBed, failure, hour, minute, second } from './support/bed.ts';
import { losesReply } from './support/faulty-store.ts';
import { answering, gated } from './support/scripted-endpoint.ts';

const refused = answering(401, '{"error":"invalid_client"}');

/** The endpoint rejects the credentials until the fleet waits for a quarter of an hour. */
async function rejectedCredentials(bed: Bed): Promise<ServiceAuth> {
  const auth = bed.client();
  bed.endpoint.otherwise(refused);
  await failTimes(3, 'ERR_CREDENTIALS_REJECTED', bed, auth);
  return auth;
}

/** The endpoint answers one request with 429, so the fleet waits for this long. */
async function rateLimited(bed: Bed, forMs: number): Promise<ServiceAuth> {
  const auth = bed.client();
  bed.endpoint.next(answering(429, '', { 'retry-after': `${forMs / second}` }));
  await failure('ERR_RATE_LIMITED', bed.clock.until(auth.getToken()));
  return auth;
}

/** Asks for a token again at each `retryAt`. It does not wait for the last one. */
async function failTimes(
  count: number,
  code: 'ERR_CREDENTIALS_REJECTED' | 'ERR_TOKEN_ENDPOINT',
  bed: Bed,
  auth: ServiceAuth,
): Promise<void> {
  for (let times = 1; times <= count; times++) {
    const { retryAt } = await failure(code, bed.clock.until(auth.getToken()));
    if (times < count) await bed.clock.advance((retryAt ?? 0) - bed.clock.now());
  }
}

describe('retryNow', () => {
  test('has the next caller try credentials again that the provider mended', async () => {
    const bed = createBed();
    const auth = await rejectedCredentials(bed);
    const failedAt = bed.clock.now();
    const until = failedAt + 15 * minute;
    bed.endpoint.otherwise(bed.endpoint.issue);
    const other = bed.client();
    await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(other.getToken()));
    expect(await auth.retryNow()).toEqual({
      ended: [{ kind: 'credentials', until, audience: 'orders', status: 401, instance: 'process 1', failedAt }],
      retryAt: undefined,
    });
    expect(await auth.getUsage()).toMatchObject({ holds: [], refusedUntil: undefined, availableNow: 1 });
    // The record that the other process read is a second old.
    await bed.clock.advance(second);
    await bed.token(other);
    expect(await auth.getUsage()).toMatchObject({ holds: [], availableNow: 27 });
  });

  test('is heard at once in its own process and within a second in others, although callers who are refused read the record once a second', async () => {
    const bed = createBed();
    const auth = await rejectedCredentials(bed);
    const other = bed.client();
    const { load } = bed.store.calls;
    for (let call = 0; call < 50; call += 1) {
      await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(other.getToken()));
      await bed.clock.advance(100);
    }
    expect(bed.store.calls.load - load).toBe(5);
    bed.endpoint.otherwise(bed.endpoint.issue);
    await auth.retryNow();
    const own = await bed.token(auth);
    await bed.clock.advance(second);
    expect((await bed.token(other)).id).toBe(own.id);
  });

  test('ends the wait of all, but if the next request fails, everybody waits again', async () => {
    const bed = createBed();
    const auth = await rejectedCredentials(bed);
    await auth.retryNow();
    const callers = [
      auth,
      ...Array.from({ length: 5 }, (_, index) => bed.client({ audience: index < 3 ? 'orders' : 'invoices' })),
    ];
    const before = bed.endpoint.requests.length;
    bed.endpoint.otherwise(answering(429, '', { 'retry-after': '3600' }));
    await bed.clock.until(Promise.allSettled(callers.map((caller) => caller.getToken())));
    expect(bed.endpoint.requests.length).toBe(before + 1);
    for (const caller of callers) await expect(bed.clock.until(caller.getToken())).rejects.toThrow();
    expect(bed.endpoint.requests.length).toBe(before + 1);
  });

  test('ends a pause that began in the same millisecond', async () => {
    const bed = createBed();
    const auth = bed.client({ store: memoryStore({ clock: bed.clock }) });
    const { answer, release } = gated(refused);
    bed.endpoint.next(answer);
    const rejected = auth.getToken();
    await bed.clock.advance(0.5);
    release();
    await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(rejected));
    expect((await auth.retryNow()).ended).toMatchObject([{ kind: 'credentials' }]);
    await bed.token(auth);
  });

  test('ends what a 429 asked for', async () => {
    const bed = createBed();
    const auth = await rateLimited(bed, 24 * hour);
    expect((await auth.retryNow()).ended).toMatchObject([{ kind: 'rate_limited', status: 429 }]);
    await bed.token(auth);
  });

  test('says what it ended although the reply of the store was lost, and another caller has a token already', async () => {
    const bed = createBed();
    const auth = await rateLimited(bed, 6 * hour);
    bed.store.next('swap', losesReply);
    const [{ ended }] = await bed.clock.until(Promise.all([auth.retryNow(), auth.getToken()]));
    expect(ended).toMatchObject([{ kind: 'rate_limited' }]);
  });

  test('lets every audience ask, and what fails again goes on with the pause that it had', async () => {
    const bed = createBed();
    const auth = bed.client();
    bed.endpoint.otherwise(answering(503));
    await failTimes(4, 'ERR_TOKEN_ENDPOINT', bed, auth);
    expect((await auth.retryNow()).ended).toMatchObject([{ kind: 'backoff', status: 503 }]);
    await bed.clock.advance(1);
    const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', bed.clock.until(auth.getToken()));
    expect((retryAt ?? 0) - bed.clock.now()).toBe(16 * second);
    await bed.clock.advance(minute);
    await auth.retryNow();
    bed.endpoint.otherwise(bed.endpoint.issue);
    await bed.token(bed.client({ audience: 'invoices' }));
    await bed.token(auth);
  });

  test('never spends more than three quarters of the usable tokens in an outage', async () => {
    const bed = createBed('process');
    const auth = bed.client();
    bed.endpoint.otherwise(answering(503));
    for (let asked = 0; asked < 1_200; asked += 1) {
      await auth.retryNow();
      await bed.clock.until(auth.getToken()).catch(() => {});
      await bed.clock.advance(minute);
    }
    const { usable, unknown } = await auth.getUsage();
    expect(unknown).toBeGreaterThan(usable / 3);
    expect(unknown).toBeLessThanOrEqual(0.75 * usable);
  });

  test('has an effect once in 1, 2, 4 … 60 minutes, and says when', async () => {
    const bed = createBed();
    const auth = await rejectedCredentials(bed);
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect((await auth.retryNow()).ended).toHaveLength(1);
      await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(auth.getToken()));
      const sent = bed.endpoint.requests.length;
      const retryAt = bed.clock.now() + minutes * minute;
      expect(await bed.client().retryNow()).toEqual({ ended: [], retryAt });
      await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(auth.getToken()));
      expect(bed.endpoint.requests.length).toBe(sent);
      await bed.clock.advance(minutes * minute);
      // The credentials are tried again by themselves meanwhile.
      await bed.clock.until(auth.getToken()).catch(() => {});
    }
  });

  test('never exceeds the limit', async () => {
    const bed = createBed();
    for (let spent = 0; spent < 28; spent++) await bed.token(bed.client({ audience: `audience ${spent}` }));
    const auth = bed.client();
    expect(await auth.retryNow()).toEqual({ ended: [], retryAt: undefined });
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(auth.getToken()));
  });

  test('reaches a process that keeps a rejected token, within the time of a reset', async () => {
    const bed = createBed();
    const auth = bed.client();
    // The API rejects every token for an hour.
    for (let minutes = 0; minutes < 60; minutes++) {
      await auth.invalidate(await bed.token(auth));
      await bed.clock.advance(minute);
    }
    const rejected = await bed.token(auth);
    await auth.invalidate(rejected);
    expect(await bed.token(auth)).toBe(rejected);
    expect((await bed.client().retryNow()).ended).toMatchObject([{ kind: 'rejections' }]);
    await bed.use(auth, 30 * second, second);
    await auth.invalidate(rejected);
    expect((await bed.token(auth)).id).not.toBe(rejected.id);
  });

  test('lets everybody go on after a 429', async () => {
    const bed = createBed();
    const auth = await rateLimited(bed, 12 * hour);
    await auth.retryNow();
    await bed.token(auth);
    await bed.token(bed.client({ audience: 'invoices' }));
    expect(await auth.getUsage()).toMatchObject({ holds: [] });
  });

  test('writes nothing if nothing holds the fleet up', async () => {
    const bed = createBed();
    const auth = bed.client();
    await bed.token(auth);
    const before = await bed.store.text();
    expect(await auth.retryNow()).toEqual({ ended: [], retryAt: undefined });
    expect(await bed.store.text()).toBe(before);
  });

  test('has an effect although nobody needs a token for an hour', async () => {
    const bed = createBed();
    const auth = await rateLimited(bed, 2 * hour);
    await auth.retryNow();
    await bed.clock.advance(hour);
    await bed.token(auth);
  });

  test('has a process that kept a rejected token try to replace it', async () => {
    const bed = createBed();
    const auth = bed.client();
    for (let renewals = 0; renewals < 2; renewals++) await auth.invalidate(await bed.token(auth));
    const kept = await bed.token(auth);
    await bed.clock.advance(second);
    await auth.invalidate(kept);
    expect((await bed.token(auth)).value).toBe(kept.value);
    expect((await auth.retryNow()).ended).toMatchObject([{ kind: 'rejections' }]);
    await auth.invalidate(kept);
    expect((await bed.token(auth)).value).not.toBe(kept.value);
  });
});
