import { describe, expect, test } from 'vitest';
import { createAccessToken } from '../src/contract/access-token.ts';
import {
  cachedToken,
  isAlive,
  machineSleepMs,
  recounted,
  type UsableToken,
  withExpiry,
} from '../src/token/cached-token.ts';
import { hour, minute } from './support/bed.ts';

const month = 31 * 24 * hour;

function usable(lifetimeMs: number, more: Partial<UsableToken> = {}): UsableToken {
  return {
    token: createAccessToken('id', 'value', 0, lifetimeMs),
    generation: 1,
    adopted: false,
    lifetimeMs,
    countedFrom: { monotonic: 1_000, wall: 5_000 },
    usableUntil: lifetimeMs - minute,
    ...more,
  };
}

/** A moment so long after the token was counted, on a machine that slept for `asleepMs` of it. */
const later = (ms: number, asleepMs = 0) => ({ monotonic: 1_000 + ms - asleepMs, wall: 5_000 + ms });

describe('a cached token', () => {
  test('is renewed with a tenth to a fifth of its life left, as the random number says', () => {
    const { usableUntil } = usable(10 * hour);
    expect(cachedToken(usable(10 * hour), 0).renewAt).toBe(usableUntil - hour);
    expect(cachedToken(usable(10 * hour), 0.5).renewAt).toBe(usableUntil - 1.5 * hour);
    expect(cachedToken(usable(10 * hour), 1).renewAt).toBe(usableUntil - 2 * hour);
  });

  test('of less than two minutes is renewed when it ends', () => {
    const short = cachedToken(usable(2 * minute - 1), 0.5);
    expect(short.renewAt).toBe(short.usableUntil);
    const longer = cachedToken(usable(2 * minute), 0.5);
    expect(longer.renewAt).toBe(longer.usableUntil - 18_000);
  });

  test('keeps the distance from renewal to end when its life is counted anew', () => {
    const cached = cachedToken(usable(10 * hour), 0.5);
    const countedFrom = later(2 * hour, hour);
    const anew = recounted(cached, usable(10 * hour, { countedFrom, usableUntil: 8 * hour }));
    expect(anew).toEqual({ ...cached, countedFrom, usableUntil: 8 * hour, renewAt: 8 * hour - 1.5 * hour });
  });

  test('does not live longer when its life is counted anew', () => {
    const cached = cachedToken(usable(10 * hour), 0.5);
    const countedFrom = later(2 * hour, hour);
    const anew = recounted(cached, usable(10 * hour, { countedFrom, usableUntil: 11 * hour }));
    expect(anew).toEqual({ ...cached, countedFrom });
  });
});

describe('sleep of the machine', () => {
  test('is what the wall clock gained on the monotonic clock', () => {
    expect(machineSleepMs(usable(hour), later(10 * hour, 3 * hour))).toBe(3 * hour);
  });

  test('counts from more than a minute to a month; anything else is a wall clock that was set', () => {
    const slept = [0, minute, minute + 1, month, month + 1, -hour].map((ms) =>
      machineSleepMs(usable(hour), later(2 * month, ms)),
    );
    expect(slept).toEqual([0, 0, minute + 1, month, 0, 0]);
  });
});

test.each([2_000, 4_000, 10 * minute])(
  'sleep that is longer than the margin of a token of %i ms counts',
  (lifetimeMs) => {
    const slept = [lifetimeMs / 10, lifetimeMs / 10 + 1].map((ms) =>
      machineSleepMs(usable(lifetimeMs), later(hour, ms)),
    );
    expect(slept).toEqual([0, lifetimeMs / 10 + 1]);
  },
);

describe('the expiry that callers see', () => {
  const at = { monotonic: 0, wall: 0 };
  const read = (lifetimeMs: number, usableUntil: number) => usable(lifetimeMs, { countedFrom: at, usableUntil });
  const seen = (expiresAt: number) => createAccessToken('id', 'value', 0, expiresAt);

  test('of a token of seconds is not over while the token is served, although a slow read showed it too early', () => {
    const { expiresAt } = withExpiry(seen(3_100), read(4_000, 3_600), { monotonic: 3_500, wall: 3_500 });
    expect(expiresAt).toBe(4_000);
  });

  test.each([
    [hour, 1_000],
    [4_000, 400],
  ])('of a token of %i ms stays as it is if it differs by %i ms at most', (lifetimeMs, ms) => {
    const margin = Math.min(minute, lifetimeMs / 10);
    const [same, other] = [ms, ms + 1].map((byMs) => {
      const served = seen(lifetimeMs - byMs);
      return withExpiry(served, read(lifetimeMs, lifetimeMs - margin), at) === served;
    });
    expect([same, other]).toEqual([true, false]);
  });
});

describe('a token is alive', () => {
  test('until its margin begins', () => {
    const { usableUntil } = usable(hour);
    const alive = [usableUntil - 1, usableUntil].map((monotonic) =>
      isAlive(usable(hour), { monotonic, wall: monotonic + 4_000 }),
    );
    expect(alive).toEqual([true, false]);
  });

  test('for a shorter time when the machine slept', () => {
    const lived = hour - minute - 1_000;
    expect(isAlive(usable(hour), later(lived - 1, hour / 2))).toBe(true);
    expect(isAlive(usable(hour), later(lived, hour / 2))).toBe(false);
  });
});
