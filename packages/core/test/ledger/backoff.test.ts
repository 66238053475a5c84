import { describe, expect, test } from 'vitest';
import { nextBackoff } from '../../src/ledger/backoff.ts';
import { hour, noon } from '../support/instants.ts';

describe('pauses after failures', () => {
  test('double, up to the longest', () => {
    const pauses = [0, 1, 2, 3, 4, 1_000_000].map((count) => nextBackoff({ count, retryAt: 0 }, noon, 5, 60));
    expect(pauses.map(({ retryAt }) => retryAt - noon)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(pauses.map(({ count }) => count)).toEqual([1, 2, 3, 4, 5, 1_000_001]);
    expect(nextBackoff(undefined, noon, 5, 60)).toEqual({ count: 1, retryAt: noon + 5 });
  });

  test('are whole milliseconds, and as long as they have to be in any case', () => {
    expect(nextBackoff(undefined, noon, 5, 60, 7.5).retryAt).toBe(noon + 8);
    expect(nextBackoff(undefined, noon, 5, 60, 4).retryAt).toBe(noon + 5);
  });

  test('are not cut short by another failure', () => {
    expect(nextBackoff({ count: 1, retryAt: noon + hour }, noon, 5, 60)).toEqual({ count: 2, retryAt: noon + hour });
  });
});
