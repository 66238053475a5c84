import { expect, test, vi } from 'vitest';
import { systemClock } from '../src/platform/clock.ts';

test('the clock of the machine tells the time, and fires or cancels timers', async () => {
  const startedAt = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(startedAt);
  expect(now).toBeLessThanOrEqual(Date.now());
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
