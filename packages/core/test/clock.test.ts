import { expect, test, vi } from 'vitest';
import { instantOf, longestSince, sleptSince, systemClock } from '../src/clock.ts';
import { createHeldClock } from './support/held-clock.ts';

test('the clock of the machine tells the time, and fires or cancels timers', async () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
  const before = systemClock.monotonic();
  await new Promise<void>((resolve) => {
    const cancel = systemClock.setTimer(() => expect.fail('it was cancelled'), 0);
    systemClock.setTimer(resolve, 1);
    cancel();
  });
  expect(systemClock.monotonic()).toBeGreaterThan(before);
});

test('its timers keep a process running, but for those in the background', () => {
  const keepingAlive = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = keepingAlive();
  const cancels = [systemClock.setTimer(() => {}, 60_000, { background: true })];
  expect(keepingAlive()).toBe(before);
  cancels.push(systemClock.setTimer(() => {}, 60_000));
  expect(keepingAlive()).toBe(before + 1);
  for (const cancel of cancels) cancel();
  expect(keepingAlive()).toBe(before);
});

test('where timers are numbers, in browsers and workers, there is no process to keep running', () => {
  vi.stubGlobal('setTimeout', () => 5);
  try {
    expect(systemClock.setTimer(() => {}, 0, { background: true })).toBeTypeOf('function');
  } finally {
    vi.unstubAllGlobals();
  }
});

test('what passed since a moment is told by whichever clock says longer, sleep by the difference', async () => {
  const clock = createHeldClock();
  const from = instantOf(clock);
  await clock.advance(1_000);
  clock.suspend(5_000);
  expect([longestSince(from, instantOf(clock)), sleptSince(from, instantOf(clock))]).toEqual([6_000, 5_000]);
  clock.step(-20_000);
  expect([longestSince(from, instantOf(clock)), sleptSince(from, instantOf(clock))]).toEqual([1_000, -15_000]);
});
