import { describe, expect, test } from 'vitest';
import type { AccessToken, StoreDurability } from '../src/index.ts';
import { createBed, day, hour, minute, second } from './support/bed.ts';
import { fails } from './support/faulty-store.ts';

/** A bed whose endpoint remembers when each token ends. */
function createExpiryBed(durability?: StoreDurability) {
  const bed = createBed(durability);
  const { clock, endpoint } = bed;
  const endsAt = new Map<string, number>();
  endpoint.otherwise(async (request) => {
    const answer = await endpoint.issue(request);
    endsAt.set(JSON.parse(await answer.body).access_token, clock.monotonic() + day);
    return answer;
  });
  /** The life that a token has left, as its endpoint counts it. */
  const lifeOf = ({ value }: AccessToken) => (endsAt.get(value) ?? Number.NaN) - clock.monotonic();
  /** The life that a token has left, as whoever reads its expiry counts it. */
  const shownLifeOf = ({ expiresAt }: AccessToken) => expiresAt - clock.now();
  return { ...bed, auth: bed.client(), lifeOf, shownLifeOf };
}

const steps = [2, 5, 10, 15, 20, 23, 30, 8 * 24, 32 * 24, 365 * 24].flatMap((hours) => [hours, -hours]);

describe.each(['durable', 'process'] as const)('after the wall clock was set (%s store)', (durability) => {
  test.each(steps)('by %i hours, the token shows the expiry that it has', async (hours) => {
    const { auth, clock, endpoint, lifeOf, shownLifeOf, token, use } = createExpiryBed(durability);
    const first = await token(auth);
    await use(auth, 2 * minute);
    clock.step(hours * hour);
    // It looks as if the machine had slept, and a store in its memory cannot say that it did not.
    const lostMs = durability === 'process' && hours > 0 && hours <= 31 * 24 ? hours * hour : 0;
    for (let passed = 0; passed < 24; passed += 1) {
      const shown = await token(auth);
      expect(shownLifeOf(shown)).toBe(lifeOf(shown) - (shown.id === first.id ? lostMs : 0));
      expect(shown.expiresAt - shown.issuedAt).toBe(day);
      await use(auth, minute);
      const next = await token(auth);
      expect([auth.peekToken() === next, (await token(auth)) === next]).toEqual([true, true]);
      await clock.advance(hour - minute);
    }
    expect(endpoint.issued).toBeLessThanOrEqual(lostMs > 0 ? 3 : 2);
  });

  test('several times, the token shows the expiry that it has, and one token is enough', async () => {
    const { auth, clock, endpoint, lifeOf, shownLifeOf, token, use } = createExpiryBed(durability);
    await token(auth);
    for (const hours of [32 * 24, -10, -365 * 24, 400 * 24, -3, 40 * 24]) {
      clock.step(hours * hour);
      const shown = await token(auth);
      expect(shownLifeOf(shown)).toBe(lifeOf(shown));
      await use(auth, hour);
    }
    expect(endpoint.issued).toBe(1);
  });
});

test.each(['durable', 'process'] as const)(
  'a machine that slept after its wall clock was set back serves no expired token (%s store)',
  async (durability) => {
    const { auth, clock, lifeOf, store, token, use } = createExpiryBed(durability);
    const first = await token(auth);
    await use(auth, minute);
    clock.step(-10 * hour);
    await use(auth, minute);
    clock.suspend(10 * hour);
    // A store elsewhere did not sleep.
    if (durability === 'durable') store.aheadMs += 10 * hour;
    expect(lifeOf(await token(auth))).toBeGreaterThan(10 * hour + minute);
    await clock.advance(lifeOf(first) - 10 * hour - minute);
    expect((await token(auth)).id).not.toBe(first.id);
  },
);

test('a token shows the expiry that it has although the store does not answer after the step', async () => {
  const { auth, clock, lifeOf, shownLifeOf, store, token } = createExpiryBed();
  await token(auth);
  store.always('both', fails);
  clock.step(32 * day);
  const shown = await token(auth);
  expect(shownLifeOf(shown)).toBe(lifeOf(shown));
});

test('a clock that is adjusted by a second leaves the token as it is', async () => {
  const { auth, clock, token } = createExpiryBed();
  const first = await token(auth);
  for (const ms of [second, -second]) {
    clock.step(ms);
    expect(await token(auth)).toBe(first);
    clock.step(-ms);
  }
  clock.step(-second - 1);
  expect(await token(auth)).toMatchObject({ id: first.id, value: first.value, expiresAt: first.expiresAt - 1_001 });
});

test.each([2, 30, 59])(
  'a machine that slept for %i seconds shows the expiry that the token had before',
  async (seconds) => {
    const { auth, clock, token } = createExpiryBed();
    const first = await token(auth);
    clock.suspend(seconds * second);
    expect(await token(auth)).toBe(first);
  },
);
