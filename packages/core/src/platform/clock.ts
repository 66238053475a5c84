import type { Instant } from './instant.ts';
import { outsideRequest } from './nextjs.ts';

/**
 * The source of time. Replace it only in tests: `createTestClock()` of `@service-auth/testing` is a
 * clock that the test controls.
 */
export interface Clock {
  /**
   * Returns the wall clock in epoch milliseconds. This clock may step, so it never extends the life
   * of a token.
   */
  now(): number;
  /**
   * Returns milliseconds since an arbitrary origin. This clock never steps, but it may stand still
   * while the machine sleeps.
   */
  monotonic(): number;
  /**
   * Calls back once after `delayMs` (0 to 3,600,000 ms). Returns a function that cancels the timer.
   * With `background`, default false, the timer does not keep the process running.
   */
  setTimer(callback: () => void, delayMs: number, options?: { background?: boolean }): () => void;
}

/** Reads both clocks. */
export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Keeps the process running for an hour at most. Returns a function that ends this. All other
 * timers of core run in the background.
 */
export function keepAlive(clock: Clock): () => void {
  return clock.setTimer(() => {}, 3_600_000);
}

const readWallClock = (): number => Date.now();

/** The clock of this machine. */
export const systemClock: Clock = {
  // Next.js fails a page that reads the clock while it prerenders.
  now: () => outsideRequest(readWallClock),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer: unknown = setTimeout(callback, delayMs);
    // Node, Bun and Deno return an object with unref. Browsers and workers have no process that a
    // timer could keep running.
    if (options?.background) (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
};

/** The end of an operation. */
export type End<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * Runs an operation, and reports how it ended and how long it took, if anybody listens to
 * operations.
 */
export function observe<Result>(
  { clock, observesOperations }: { readonly clock: Clock; readonly observesOperations: boolean },
  run: () => Promise<Result>,
  report: (end: End<Result>, durationMs: number) => void,
): Promise<Result> {
  if (!observesOperations) return run();
  const from = clock.monotonic();
  const end = (how: End<Result>) => report(how, clock.monotonic() - from);
  return run().then(
    (result) => {
      end({ result });
      return result;
    },
    (error: unknown) => {
      end({ error });
      throw error;
    },
  );
}
