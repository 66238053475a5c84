import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@service-auth/core';

/** Options of {@link createTestClock}. */
export interface TestClockOptions {
  /** The initial time of the wall clock, in epoch milliseconds. Default 2026-01-01T00:00:00Z. */
  now?: number | undefined;
}

/** The numbers of armed timers, for tests that search for leaks. */
export interface PendingTimers {
  /** The number of timers that do not keep a process running. */
  readonly background: number;
  /** The number of timers that keep a process running. */
  readonly foreground: number;
}

/** A {@link Clock} that stands still until the test moves it. */
export interface TestClock extends Clock {
  readonly pendingTimers: PendingTimers;
  /**
   * The clock of all other machines: `advance` and `suspend` move its wall clock, but `step` does
   * not. Give it to `startTestService` in tests that step the client's wall clock.
   */
  readonly world: Clock;
  /**
   * Advances the time by `ms` milliseconds, 0 or more. Fires the due timers in order and lets
   * promises settle before the first timer and after each. It never sleeps, so a request on
   * loopback may be unfinished when this resolves: await its effects.
   * @throws RangeError (as a rejection) for a negative or infinite duration
   */
  advance(ms: number): Promise<void>;
  /**
   * Sets the wall clock forward by `ms` milliseconds, or back if `ms` is negative. No time passes.
   */
  step(ms: number): void;
  /**
   * Simulates a machine that sleeps for `ms` milliseconds: the wall clock advances; the monotonic
   * clock and all timers stand still.
   */
  suspend(ms: number): void;
}

interface Timer {
  readonly callback: () => void;
  readonly dueAt: number;
  readonly background: boolean;
}

const maxDelayMs = 3_600_000;
// These turns of the event loop suffice for a request and its answer on loopback.
const turnsToSettle = 20;

async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsToSettle; turn++) await setImmediate();
}

function checkDuration(ms: number): void {
  if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) throw new RangeError(`A duration is 0 ms or more, not ${ms}.`);
}

/**
 * Creates a clock that the test controls, for `createServiceAuth`, for `startTestService`, or for
 * both.
 */
export function createTestClock(options: TestClockOptions = {}): TestClock {
  const startedAt = options.now ?? Date.UTC(2026, 0, 1);
  const timers = new Set<Timer>();
  let monotonic = 0;
  let suspendedMs = 0;
  let steppedMs = 0;
  let advancing = false;

  const setTimer: Clock['setTimer'] = (callback, delayMs, timerOptions) => {
    if (!(delayMs >= 0 && delayMs <= maxDelayMs)) {
      throw new RangeError(`A timer takes 0 to ${maxDelayMs} ms, not ${delayMs}.`);
    }
    const timer = { callback, dueAt: monotonic + delayMs, background: timerOptions?.background === true };
    timers.add(timer);
    return () => {
      timers.delete(timer);
    };
  };

  function nextTimer(until: number): Timer | undefined {
    let next: Timer | undefined;
    // The comparison is strict: if two timers are due at once, the one that was armed first fires
    // first, as in Node.
    for (const timer of timers) if (timer.dueAt <= until && !(next && next.dueAt <= timer.dueAt)) next = timer;
    return next;
  }

  const worldNow = () => startedAt + monotonic + suspendedMs;
  return {
    now: () => worldNow() + steppedMs,
    monotonic: () => monotonic,
    setTimer,
    world: { now: worldNow, monotonic: () => monotonic, setTimer },
    get pendingTimers() {
      const background = [...timers].filter((timer) => timer.background).length;
      return { background, foreground: timers.size - background };
    },
    async advance(ms) {
      checkDuration(ms);
      if (advancing) throw new Error('advance() is still running: await it before calling it again.');
      advancing = true;
      try {
        const until = monotonic + ms;
        await settle();
        for (let timer = nextTimer(until); timer; timer = nextTimer(until)) {
          timers.delete(timer);
          monotonic = timer.dueAt;
          timer.callback();
          await settle();
        }
        monotonic = until;
      } finally {
        advancing = false;
      }
    },
    step(ms) {
      if (!Number.isFinite(ms)) throw new RangeError(`A step is a number of milliseconds, not ${ms}.`);
      steppedMs += ms;
    },
    suspend(ms) {
      checkDuration(ms);
      suspendedMs += ms;
    },
  };
}
