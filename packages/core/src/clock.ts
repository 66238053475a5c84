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

/** A moment on both clocks of this machine. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** This moment. */
export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/** How long ago a moment was, by whichever clock says longer: one stands still while the machine sleeps, the other may be set. For decisions in which too long is harmless. */
export function longestSince({ monotonic, wall }: Instant, now: Instant): number {
  return Math.max(now.monotonic - monotonic, now.wall - wall);
}

/** For how long the machine has slept since then, its monotonic clock standing still; or by how much its wall clock was set forward: nobody can tell. Negative: set back. */
export function sleptSince({ monotonic, wall }: Instant, now: Instant): number {
  return now.wall - wall - (now.monotonic - monotonic);
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer: unknown = setTimeout(callback, delayMs);
    // Node, Bun and Deno return or accept an object with unref; browsers and workers have no process to keep alive.
    if (options?.background) (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as number);
  },
};
