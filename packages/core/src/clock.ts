import type { Instant } from './instant.ts';
import { outsideRequest } from './next.ts';

/** Time as the client sees it. Replaced only in tests: `createTestClock()` of `@service-auth/testing` is one that you hold. */
export interface Clock {
  /** The wall clock in epoch milliseconds. It may step, so it is never trusted alone: for display, and to notice that the machine slept. */
  now(): number;
  /** Milliseconds since an arbitrary origin. Never steps, may stand still while the machine sleeps. */
  monotonic(): number;
  /**
   * Calls back once after `delayMs` (0 to 3,600,000). Returns a function that cancels.
   * With `background` the timer does not keep the process running.
   */
  setTimer(callback: () => void, delayMs: number, options?: { background?: boolean }): () => void;
}

/** This moment. */
export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

const readWallClock = (): number => Date.now();

/** The clock of this machine. */
export const systemClock: Clock = {
  // A page that Next.js prerenders may not read it.
  now: () => outsideRequest(readWallClock),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer: unknown = setTimeout(callback, delayMs);
    // Node, Bun and Deno return or accept an object with unref; browsers and workers have no process to keep alive.
    if (options?.background) (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
};
