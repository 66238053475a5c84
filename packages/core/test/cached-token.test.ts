import { describe, expect, test } from 'vitest';
import { createAccessToken } from '../src/contract/access-token.ts';
import { cachedToken, isAlive, machineSleepMs, recounted } from '../src/token/cached-token.ts';
import type { UsableToken } from '../src/token/usable-token.ts';
import { hour, minute } from './support/bed.ts';

const week = 7 * 24 * hour;

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

  test('counts from more than a minute to a week; anything else is a wall clock that was set', () => {
    const slept = [0, minute, minute + 1, week, week + 1, -hour].map((ms) =>
      machineSleepMs(usable(hour), later(2 * week, ms)),
    );
    expect(slept).toEqual([0, 0, minute + 1, week, 0, 0]);
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
