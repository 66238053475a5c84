import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { abortable, maxPauseMs, pause, standstillMs, timedOut, within } from '../src/platform/pause.ts';
import { createManualClock, settled } from './support/manual-clock.ts';

describe('pause', () => {
  test('waits for half to one and a half of what it is told, not always the same', async () => {
    const waited = new Set<number>();
    for (let round = 0; round < 50; round++) {
      const clock = createManualClock();
      await clock.until(pause(clock, 1_000));
      waited.add(clock.monotonic());
    }
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...waited)).toBeLessThanOrEqual(maxPauseMs(1_000));
    expect(waited.size).toBeGreaterThan(10);
  });

  test('ends with an abort, and leaves no timer', async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const waiting = pause(clock, 1_000, controller.signal);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(pause(clock, 1_000, controller.signal)).rejects.toBe('enough');
    expect(clock.timers.all).toBe(0);
  });

  test('leaves no listener behind', async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const waiting = pause(clock, 1_000, signal);
    expect(listeners()).toBe(1);
    await clock.until(waiting);
    expect(listeners()).toBe(0);
  });

  test('and a race leave no listener behind, however the race ends', async () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const races = [Promise.resolve('done'), Promise.reject(new Error('failed'))].map((promise) =>
      abortable(promise, signal),
    );
    expect(listeners()).toBe(2);
    await Promise.allSettled(races);
    await settled();
    expect(listeners()).toBe(0);
  });

  test('that ended is not ended again by an abort', async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const ended = pause(clock, 1_000, controller.signal);
    await clock.until(ended);
    controller.abort();
    await expect(ended).resolves.toBeUndefined();
    expect([clock.timers.all, getEventListeners(controller.signal, 'abort').length]).toEqual([0, 0]);
  });
});

describe('a standstill of the event loop', () => {
  test('is as long as the timers are late, however many there are', async () => {
    const clock = createManualClock();
    let stoodStillMs = 0;
    const late = { ...clock, monotonic: () => clock.monotonic() + stoodStillMs };
    const waits = [1, 2, 3].map(() => within(1_000, late, () => new Promise(() => {})));
    expect(standstillMs(late)).toBe(0);
    stoodStillMs = 30_000;
    await clock.advance(2_000);
    await Promise.all(waits);
    expect(standstillMs(late)).toBe(30_000);
  });

  test('is not seen in timers that fire when they are due', async () => {
    const clock = createManualClock();
    for (let round = 0; round < 10; round++) await clock.until(pause(clock, 1_000));
    expect(standstillMs(clock)).toBe(0);
  });
});

describe('abortable', () => {
  test('is the promise itself without a signal', () => {
    const promise = Promise.resolve(1);
    expect(abortable(promise, undefined)).toBe(promise);
  });

  test('rejects with the reason of a signal that aborts, or has aborted', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    await expect(abortable(Promise.resolve(1), controller.signal)).rejects.toBe('enough');
  });

  test('settles like the promise without an abort', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve(1), signal)).toBe(1);
    await expect(abortable(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
  });
});

describe('within', () => {
  test('resolves with what was done in time, and leaves no timer', async () => {
    const clock = createManualClock();
    expect(await within(1_000, clock, async () => 'done')).toBe('done');
    await expect(within(1_000, clock, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(clock.timers.all).toBe(0);
  });

  test('resolves when time ran out, tells by the signal, and ignores what comes later', async () => {
    const clock = createManualClock();
    let aborted = false;
    const run = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    const waiting = within(1_000, clock, run);
    await clock.advance(1_000);
    expect([await waiting, aborted]).toEqual([timedOut, true]);
  });

  describe('while the event loop stands still', () => {
    /** A clock whose loop is blocked for a while: timers that fell due fire first, and what came over the network is seen a moment later. */
    function blockable() {
      const clock = createManualClock();
      let blockedMs = 0;
      const late = {
        ...clock,
        monotonic: () => clock.monotonic() + blockedMs,
        block(ms: number) {
          blockedMs += ms;
        },
      };
      return { clock, late };
    }

    test.each([1_000, 3_000, 30_000])('for %i ms, an answer that came meanwhile is taken', async (blockMs) => {
      const { clock, late } = blockable();
      let answer = (_: string) => {};
      const waiting = within(1_000, late, () => new Promise<string>((resolve) => (answer = resolve)));
      await clock.advance(900);
      late.block(blockMs);
      await clock.advance(100);
      // The loop turns again: first the timer that is late, then the socket.
      await clock.advance(1);
      answer('came meanwhile');
      expect(await waiting).toBe('came meanwhile');
      expect(clock.timers.all).toBe(0);
    });

    test('this time is not counted, and yet the wait has an end', async () => {
      const { clock, late } = blockable();
      const waiting = within(1_000, late, () => new Promise<never>(() => {}));
      await clock.advance(500);
      late.block(30_000);
      await clock.advance(499);
      expect(clock.timers.all).toBe(1);
      await clock.advance(1 + 125);
      expect(await waiting).toBe(timedOut);
    });

    test('again and again, it ends after twice its time on the loop', async () => {
      const { clock, late } = blockable();
      let ended = false;
      const waiting = within(1_000, late, () => new Promise<never>(() => {})).finally(() => {
        ended = true;
      });
      let turns = 0;
      for (; !ended; turns += 1) {
        late.block(5_000);
        await clock.advance(125);
      }
      expect(await waiting).toBe(timedOut);
      expect(turns).toBe(16);
    });
  });
});
