import { describe, expect, test } from 'vitest';
import type { IssuanceLimit, ServiceAuthOptions } from '../src/index.ts';
import { type Bed, createBed, day, failure, hour, minute, ofProcess } from './support/bed.ts';
import { answering } from './support/scripted-endpoint.ts';

const observed = { tokens: 12, reserve: 2, enforce: false } satisfies IssuanceLimit;

/** Spends tokens: each audience has one of its own. */
async function spend({ client, token }: Bed, count: number, options: Partial<ServiceAuthOptions> = {}): Promise<void> {
  for (let spent = 0; spent < count; spent++) await token(client({ audience: `api ${spent}`, ...options }));
}

describe('a limit that is not enforced', () => {
  test('refuses nothing, and says what it would have refused', async () => {
    const bed = createBed('process');
    await spend(bed, 30, { issuanceLimit: observed });
    expect(bed.endpoint.requests.length).toBe(30);
    // Enforced, it lets callers without a token spend 10.
    const [first, ...later] = bed.eventsOf('issuance_over_limit');
    expect(first).toMatchObject({ reason: 'cold', limit: 12, used: 11, usable: 10, windowMs: day, count: 1 });
    expect([first, ...later].reduce((sum, event) => sum + (event?.count ?? 0), 0)).toBeLessThanOrEqual(20);
    expect([...bed.eventsOf('issuance_refused'), ...bed.eventsOf('token_unavailable')]).toEqual([]);
    const usage = await bed.client({ issuanceLimit: observed }).getUsage();
    expect(usage).toMatchObject({
      limit: 12,
      usable: 10,
      used: 30,
      remaining: 0,
      enforce: false,
      refusedUntil: undefined,
    });
    expect(usage.availableNow).toBeGreaterThan(0);
    expect(usage.windows).toMatchObject([{ tokens: 12, used: 30, enforce: false, own: true }]);
    expect(usage.issuances.map(({ overLimit }) => overLimit === true)).toEqual(
      Array.from({ length: 30 }, (_, index) => index < 20),
    );
  });

  test('says nothing as long as it has room, and a new record is no reason to say anything else', async () => {
    const bed = createBed();
    await spend(bed, 1, { issuanceLimit: observed });
    expect(bed.eventsOf('issuance_over_limit')).toEqual([]);
    expect((await bed.client({ issuanceLimit: observed }).getUsage()).newRecord).toBeUndefined();
    expect((await bed.client({ issuanceLimit: observed }).getUsage()).issuances).toMatchObject([
      { overLimit: undefined },
    ]);
  });

  test('does not make a process of the fleet refuse a token because another one enforces it', async () => {
    const bed = createBed('process');
    await spend(bed, 10, { issuanceLimit: { tokens: 12, reserve: 2 } });
    const strict = bed.client({ audience: 'strict', issuanceLimit: { tokens: 12, reserve: 2 } });
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(strict.getToken()));
    await bed.token(bed.client({ audience: 'observing', issuanceLimit: observed }));
    expect(bed.eventsOf('issuance_over_limit')).toMatchObject([{ audience: 'observing', limit: 12 }]);
    expect(bed.eventsOf('agreement_differs').length).toBeGreaterThan(0);
  });

  test('stays so for programs that inherit the limit, and ends when the fleet enforces it', async () => {
    const bed = createBed('process');
    await spend(bed, 12, { issuanceLimit: observed });
    await bed.token(bed.client({ audience: 'a tool', issuanceLimit: 'inherit' }));
    const strict = { audience: 'strict', issuanceLimit: { ...observed, enforce: true } };
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(bed.client(strict).getToken()));
  });

  test('still pauses after failures, and spaces renewals after 401s', async () => {
    const bed = createBed('process');
    bed.endpoint.next(answering(503), answering(503), answering(503));
    const auth = bed.client({ issuanceLimit: observed });
    for (let call = 0; call < 12; call += 1) {
      await failure('ERR_TOKEN_ENDPOINT', bed.clock.until(auth.getToken()));
      await bed.clock.advance(200);
    }
    expect(bed.endpoint.requests.length).toBeLessThanOrEqual(3);
    await bed.clock.advance(hour);
    while (bed.endpoint.requests.length < 3) {
      await failure('ERR_TOKEN_ENDPOINT', bed.clock.until(auth.getToken()));
      await bed.clock.advance(minute);
    }
    const token = await bed.token(auth);
    const issued = bed.endpoint.requests.length;
    await auth.invalidate(token);
    for (let call = 0; call < 10; call += 1) {
      const next = await bed.token(auth);
      await auth.invalidate(next);
      await bed.clock.advance(minute / 10);
    }
    expect(bed.endpoint.requests.length).toBeLessThanOrEqual(issued + 2);
  });

  test('counts in a store whose other processes keep to their own limit', async () => {
    const bed = createBed('process');
    await spend(bed, 5, { issuanceLimit: observed });
    const auth = bed.client({
      store: ofProcess(bed.store),
      audience: 'strict',
      issuanceLimit: { tokens: 5, reserve: 0 },
    });
    await failure('ERR_ISSUANCE_LIMIT', bed.clock.until(auth.getToken()));
  });
});
