import { describe, expect, test } from 'vitest';
import { createAccessToken } from '../src/access-token.ts';
import { holdToken, isTrusted } from '../src/held-token.ts';
import { hour, minute } from './support/bed.ts';

describe('a token in memory', () => {
  const held = (lifetimeMs: number) =>
    holdToken({
      token: createAccessToken('id', 'value', 0, lifetimeMs),
      generation: 1,
      adopted: false,
      lifetimeMs,
      countedFrom: { monotonic: 0, wall: 0 },
      usableUntil: lifetimeMs - minute / 10,
    });

  test('is renewed with a tenth to a fifth of its life left, not always the same', () => {
    const ahead = Array.from({ length: 100 }, () => held(10 * hour)).map(
      ({ usableUntil, renewAt }) => usableUntil - renewAt,
    );
    expect(Math.min(...ahead)).toBeGreaterThanOrEqual(hour);
    expect(Math.max(...ahead)).toBeLessThan(2 * hour);
    expect(new Set(ahead).size).toBeGreaterThan(10);
  });

  test('of less than two minutes is renewed when it ends', () => {
    const [short, longer] = [held(2 * minute - 1), held(2 * minute)];
    expect(short.renewAt).toBe(short.usableUntil);
    expect(longer.renewAt).toBeLessThan(longer.usableUntil);
  });

  test('is trusted within a span of the wall clock, and not on either side of it', () => {
    const { token, promise } = held(hour);
    const trusted = { token, promise, from: 5_000, forMs: 1_000 };
    expect([4_999, 5_000, 5_999, 6_000].map((wall) => isTrusted(trusted, wall))).toEqual([false, true, true, false]);
  });
});
