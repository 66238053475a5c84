import { expect, test } from 'vitest';
import { instantOf } from '../src/platform/clock.ts';
import { maxElapsedMs, sleptSince } from '../src/platform/instant.ts';
import { createManualClock } from './support/manual-clock.ts';

test('the time since a moment is what the clock with the longer time says, and sleep is the difference of the clocks', async () => {
  const clock = createManualClock();
  const from = instantOf(clock);
  await clock.advance(1_000);
  clock.suspend(5_000);
  expect([maxElapsedMs(from, instantOf(clock)), sleptSince(from, instantOf(clock))]).toEqual([6_000, 5_000]);
  clock.step(-20_000);
  expect([maxElapsedMs(from, instantOf(clock)), sleptSince(from, instantOf(clock))]).toEqual([1_000, -15_000]);
});
