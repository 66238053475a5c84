import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../src/clock/system-clock.ts';
import { createTestClock } from '../src/index.ts';

const noop = () => {};

describe('createTestClock', () => {
  test('starts where it is told and stands still', async () => {
    const clock = createTestClock({ now: 1_000 });
    await new Promise(setImmediate);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    expect(createTestClock().now()).toBe(Date.UTC(2026, 0, 1));
  });

  test('advancing moves both clocks and fires what falls due, in order of time and then of arming', async () => {
    const clock = createTestClock({ now: 0 });
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} at ${clock.now()}`);
    clock.setTimer(note('late'), 30);
    clock.setTimer(note('first of two'), 20);
    clock.setTimer(note('second of two'), 20);
    clock.setTimer(note('after the end'), 41);
    await clock.advance(40);
    expect(fired).toEqual(['first of two at 20', 'second of two at 20', 'late at 30']);
    expect([clock.now(), clock.monotonic()]).toEqual([40, 40]);
  });

  test('a timer that falls due exactly at the end fires, one millisecond later does not', async () => {
    const clock = createTestClock();
    const fired: number[] = [];
    clock.setTimer(() => fired.push(10), 10);
    clock.setTimer(() => fired.push(11), 11);
    await clock.advance(10);
    expect(fired).toEqual([10]);
  });

  test('lets promises settle between timers, so that a chain of timers unrolls within one advance', async () => {
    const clock = createTestClock({ now: 0 });
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
    const seen: number[] = [];
    const loop = (async () => {
      for (let turn = 0; turn < 24; turn++) {
        await wait(3_600_000);
        await Promise.resolve();
        seen.push(clock.now() / 3_600_000);
      }
    })();
    await clock.advance(86_400_000);
    await loop;
    expect(seen).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  });

  test('what was started before advancing gets its turn before time passes', async () => {
    const clock = createTestClock({ now: 0 });
    let firedAt = -1;
    void Promise.resolve().then(() => clock.setTimer(() => (firedAt = clock.now()), 5));
    await clock.advance(10);
    expect(firedAt).toBe(5);
  });

  test('a cancelled timer does not fire, and cancelling again or too late does nothing', async () => {
    const clock = createTestClock();
    let fired = 0;
    const cancel = clock.setTimer(() => fired++, 5);
    cancel();
    cancel();
    const cancelLate = clock.setTimer(() => fired++, 5);
    await clock.advance(5);
    cancelLate();
    expect(fired).toBe(1);
  });

  test('counts the timers that wait, apart by whether they keep a process running', async () => {
    const clock = createTestClock();
    clock.setTimer(noop, 1, { background: true });
    clock.setTimer(noop, 2, { background: true });
    const cancel = clock.setTimer(noop, 3);
    expect(clock.pendingTimers).toEqual({ background: 2, foreground: 1 });
    cancel();
    await clock.advance(1);
    expect(clock.pendingTimers).toEqual({ background: 1, foreground: 0 });
  });

  test('a step moves the wall clock alone, and not for the rest of the world', async () => {
    const clock = createTestClock({ now: 1_000_000 });
    let fired = 0;
    clock.setTimer(() => fired++, 10);
    clock.step(-500_000);
    expect([clock.now(), clock.world.now(), clock.monotonic()]).toEqual([500_000, 1_000_000, 0]);
    await clock.advance(9);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
    expect([clock.now(), clock.world.now()]).toEqual([500_010, 1_000_010]);
  });

  test('a suspended machine sees the wall clock jump, while monotonic time and timers stand still', async () => {
    const clock = createTestClock({ now: 0 });
    let fired = 0;
    clock.setTimer(() => fired++, 10);
    clock.suspend(86_400_000);
    await clock.advance(9);
    expect([fired, clock.now(), clock.world.now(), clock.monotonic()]).toEqual([0, 86_400_009, 86_400_009, 9]);
    await clock.advance(1);
    expect(fired).toBe(1);
  });

  test('the world shares the timers', async () => {
    const clock = createTestClock();
    let fired = 0;
    clock.world.setTimer(() => fired++, 10);
    expect(clock.pendingTimers.foreground).toBe(1);
    await clock.advance(10);
    expect(fired).toBe(1);
  });

  test('refuses timers that a clock does not have to support, so that they are noticed', () => {
    const clock = createTestClock();
    for (const delayMs of [-1, 3_600_001, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => clock.setTimer(noop, delayMs)).toThrow(RangeError);
    }
    clock.setTimer(noop, 0);
    clock.setTimer(noop, 3_600_000);
  });

  test('refuses to move by what is no duration', async () => {
    const clock = createTestClock();
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(clock.advance(ms)).rejects.toThrow(RangeError);
      expect(() => clock.suspend(ms)).toThrow(RangeError);
    }
    expect(() => clock.step(Number.NaN)).toThrow(RangeError);
  });

  test('rejects with what a timer throws, and can be advanced again', async () => {
    const clock = createTestClock();
    clock.setTimer(() => {
      throw new Error('from the timer');
    }, 1);
    await expect(clock.advance(5)).rejects.toThrow('from the timer');
    await clock.advance(4);
    expect(clock.monotonic()).toBe(5);
  });

  test('two advances at once are refused rather than interleaved', async () => {
    const clock = createTestClock();
    const first = clock.advance(5);
    await expect(clock.advance(5)).rejects.toThrow('await it');
    await first;
    expect(clock.monotonic()).toBe(5);
  });
});

test('the clock of this machine calls back once, and not if the timer was cancelled', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const called = vi.fn();
  systemClock.setTimer(() => called('first'), 10);
  const cancel = systemClock.setTimer(() => called('cancelled'), 10);
  cancel();
  vi.advanceTimersByTime(20);
  expect(called.mock.calls).toEqual([['first']]);
});
