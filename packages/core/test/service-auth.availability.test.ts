// The next tokens are those that `getUsage()` announces.
import { describe, expect, test } from 'vitest';
import type { ServiceAuth, StoreDurability } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { settled } from './support/manual-clock.ts';
import { answering, gated, silent } from './support/scripted-endpoint.ts';

/** Spends tokens of a budget: each audience has one of its own. */
async function spend({ client, token }: Bed, count: number): Promise<void> {
  for (let spent = 0; spent < count; spent++) await token(client({ audience: `audience ${spent} of ${count}` }));
}

/** The condition of `docs/production.md`: a process that begins now, and finds no token, gets one. */
async function isReady(auth: ServiceAuth): Promise<boolean> {
  const { refusedUntil, availableNow } = await auth.getUsage();
  expect(availableNow > 0).toBe(refusedUntil === undefined);
  return refusedUntil === undefined;
}

/** A caller is refused, and at the instant that is said it gets a token. */
async function expectRefusal(bed: Bed, auth: ServiceAuth): Promise<void> {
  expect(await isReady(auth)).toBe(false);
  const { refusedUntil = 0 } = await auth.getUsage();
  const sent = bed.endpoint.requests.length;
  await expect(bed.clock.until(auth.getToken())).rejects.toMatchObject({ retryAt: refusedUntil });
  await bed.clock.advance(refusedUntil - bed.clock.now() - 1);
  await expect(bed.clock.until(auth.getToken())).rejects.toThrow();
  expect(bed.endpoint.requests.length).toBe(sent);
  await bed.clock.advance(1);
  expect(await isReady(auth)).toBe(true);
  await bed.token(auth);
}

describe('what can be had', () => {
  test.each([
    ['process', 120, 110, 120],
    ['durable', 120, 28, 30],
    ['replicated', 75, 23, 25],
  ] as const)('of a new %s record, for callers and for resets', async (durability, usable, cold, reset) => {
    const bed = createBed(durability);
    const auth = bed.client();
    expect(await auth.getUsage()).toMatchObject({
      remaining: usable,
      availableNow: cold,
      available: { cold, reset },
      refusedUntil: undefined,
      refusedBecause: undefined,
    });
    await spend(bed, cold);
    expect(await auth.getUsage()).toMatchObject({
      remaining: usable - cold,
      availableNow: 0,
      available: { cold: 0, refresh: 0, rejected: 0, reset: reset - cold },
      refusedBecause: 'limit',
    });
    await expectRefusal(bed, auth);
  });

  test.each(['durable', 'replicated'] as const)(
    'of an old %s record whose cold starts are spent',
    async (durability: StoreDurability) => {
      const [usable, ceiling] = durability === 'durable' ? [120, 110] : [75, 69];
      const bed = createBed(durability);
      await bed.token(bed.client());
      await bed.clock.advance(2 * day);
      await spend(bed, ceiling);
      const auth = bed.client({ audience: 'another' });
      expect(await auth.getUsage()).toMatchObject({
        remaining: usable - ceiling,
        availableNow: 0,
        available: { reset: usable - ceiling },
        refusedBecause: 'limit',
      });
      await expectRefusal(bed, auth);
    },
  );

  test('while the endpoint wants to be left alone for two hours: nothing', async () => {
    const bed = createBed();
    const auth = bed.client();
    bed.endpoint.next(answering(429, '', { 'retry-after': '7200' }));
    await failure('ERR_RATE_LIMITED', bed.clock.until(auth.getToken()));
    const until = bed.clock.now() + 2 * hour;
    expect(await auth.getUsage()).toMatchObject({
      remaining: 120,
      used: 0,
      availableNow: 0,
      available: { cold: 0, refresh: 0, rejected: 0, reset: 0 },
      refusedUntil: until,
      refusedBecause: 'rate_limited',
      holds: [{ kind: 'rate_limited', until, status: 429, audience: undefined }],
    });
    await expectRefusal(bed, auth);
  });

  test('after refusals of the credentials: nothing for 5, 10, then 15 minutes, for those credentials, whatever the audience', async () => {
    const bed = createBed();
    const auth = bed.client();
    for (const minutes of [5, 10, 15, 15, 15]) {
      bed.endpoint.next(answering(401, '{"error":"invalid_client"}'));
      await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(auth.getToken()));
      const until = bed.clock.now() + minutes * minute;
      expect(await auth.getUsage()).toMatchObject({
        remaining: 120,
        availableNow: 0,
        refusedUntil: until,
        refusedBecause: 'credentials',
        holds: [{ kind: 'credentials', until, status: 401, audience: 'orders' }],
      });
      expect(await isReady(bed.client({ clientSecret: 'another' }))).toBe(true);
      expect(await isReady(bed.client({ audience: 'another' }))).toBe(false);
      if (bed.endpoint.requests.length < 5) await bed.clock.advance(minutes * minute);
    }
    await expectRefusal(bed, auth);
  });

  test('after a refusal of one audience: nothing for that audience', async () => {
    const bed = createBed();
    bed.endpoint.next(answering(400, '{"error":"invalid_target"}'));
    await failure('ERR_CREDENTIALS_REJECTED', bed.clock.until(bed.client().getToken()));
    expect(await isReady(bed.client())).toBe(false);
    expect(await isReady(bed.client({ audience: 'another' }))).toBe(true);
  });

  test('in a storm of 401s: one renewal at a time, while callers without a token are served', async () => {
    const bed = createBed();
    const auth = bed.client();
    expect((await auth.getUsage()).available.rejected).toBe(1);
    await auth.invalidate(await bed.token(auth));
    await auth.invalidate(await bed.token(auth));
    await bed.token(auth);
    const until = bed.clock.now() + minute;
    expect(await auth.getUsage()).toMatchObject({
      availableNow: 26,
      available: { rejected: 0 },
      refusedUntil: undefined,
      holds: [{ kind: 'rejections', until }],
    });
    await bed.clock.advance(minute);
    expect(await auth.getUsage()).toMatchObject({ available: { rejected: 1 }, holds: [] });
  });

  test('after six answers 503: none was surely issued, six are of unknown outcome, and none is under way', async () => {
    const bed = createBed();
    const auth = bed.client();
    for (let failures = 0; failures < 6; failures++) {
      bed.endpoint.next(answering(503));
      const { retryAt } = await failure('ERR_TOKEN_ENDPOINT', bed.clock.until(auth.getToken()));
      if (failures < 5) await bed.clock.advance(retryAt - bed.clock.now());
    }
    expect(await auth.getUsage()).toMatchObject({
      used: 6,
      unknown: 6,
      underWay: 0,
      pending: 6,
      refusedBecause: 'backoff',
      holds: [{ kind: 'backoff', status: 503 }],
    });
    await expectRefusal(bed, auth);
  });

  test('while a request is under way: it counts as such', async () => {
    const bed = createBed();
    bed.endpoint.next(silent);
    bed
      .client()
      .getToken()
      .catch(() => {});
    await settled();
    expect(await bed.client().getUsage()).toMatchObject({ used: 1, unknown: 0, underWay: 1, pending: 1 });
  });

  test('while failures allow one request at a time, and one is under way: nothing, and nobody is refused', async () => {
    const bed = createBed();
    const [orders, invoices] = [bed.client(), bed.client({ audience: 'invoices' })];
    bed.endpoint.next(answering(503));
    await failure('ERR_TOKEN_ENDPOINT', bed.clock.until(orders.getToken()));
    await bed.clock.advance(minute);
    expect(await orders.getUsage()).toMatchObject({ availableNow: 1, refusedUntil: undefined });
    const { answer, release } = gated(bed.endpoint.issue);
    bed.endpoint.next(answer);
    const tokens = Promise.all([orders.getToken(), invoices.getToken()]);
    await settled();
    const waiting = { availableNow: 0, refusedUntil: undefined, underWay: 1, holds: [] };
    for (const auth of [orders, invoices]) expect(await auth.getUsage()).toMatchObject(waiting);
    release();
    expect(new Set(await bed.clock.until(tokens)).size).toBe(2);
    expect(bed.endpoint.requests.length).toBe(3);
  });

  test('of two denials the later one is told', async () => {
    const bed = createBed();
    const auth = bed.client();
    await spend(bed, 28);
    const spender = bed.client({ audience: 'audience 0 of 28' });
    await spender.reset();
    bed.endpoint.next(answering(429, '', { 'retry-after': '60' }));
    await failure('ERR_RATE_LIMITED', bed.clock.until(spender.getToken()));
    expect((await auth.getUsage()).holds).toMatchObject([{ kind: 'rate_limited' }]);
    const { refusedBecause, refusedUntil = 0 } = await auth.getUsage();
    expect(refusedBecause).toBe('limit');
    expect(refusedUntil - bed.clock.now()).toBeGreaterThan(day);
  });
});

describe('the tokens in use', () => {
  test('are those of all audiences, until they expire or are reset', async () => {
    const bed = createBed();
    const [orders, invoices] = [bed.client(), bed.client({ audience: 'invoices' })];
    const first = await bed.token(orders);
    await bed.clock.advance(hour);
    const second = await bed.token(invoices);
    const shown = ({ id, issuedAt, expiresAt }: typeof first, audience: string) => ({
      id,
      audience,
      issuedAt,
      expiresAt,
    });
    expect((await orders.getUsage()).tokens).toEqual([shown(first, 'orders'), shown(second, 'invoices')]);
    await orders.reset();
    expect((await orders.getUsage()).tokens).toEqual([shown(second, 'invoices')]);
    await bed.clock.advance(day);
    expect((await orders.getUsage()).tokens).toEqual([]);
  });
});

describe('when the budget is spent', () => {
  test('is known while tokens are spent at a steady pace', async () => {
    const bed = createBed('process');
    for (let spent = 0; spent < 30; spent++) {
      await bed.token(bed.client({ audience: `audience ${spent}` }));
      if (spent < 29) await bed.clock.advance(6 * minute);
    }
    const { spentAt = 0 } = await bed.client().getUsage();
    // 110 can be had, and 80 are left: eight hours.
    expect(Math.abs(spentAt - bed.clock.now() - 8 * hour)).toBeLessThan(20 * minute);
  });

  test('is never, as long as tokens leave the window faster than others are spent', async () => {
    const bed = createBed('process');
    for (let spent = 0; spent < 40; spent++) {
      await bed.token(bed.client({ audience: `audience ${spent}` }));
      await bed.clock.advance(20 * minute);
    }
    expect((await bed.client().getUsage()).spentAt).toBeUndefined();
    expect((await createBed().client().getUsage()).spentAt).toBeUndefined();
  });

  test('is now, if it is spent already', async () => {
    const bed = createBed();
    await spend(bed, 28);
    expect((await bed.client().getUsage()).spentAt).toBe(bed.clock.now());
  });

  test('is not told by two tokens of a start', async () => {
    const bed = createBed();
    await spend(bed, 2);
    await bed.clock.advance(second);
    expect((await bed.client().getUsage()).spentAt).toBeUndefined();
  });
});
