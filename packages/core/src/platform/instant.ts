/** A moment on both clocks of this machine. */
export interface Instant {
  /**
   * Milliseconds since an arbitrary origin. This clock never steps, but it may stand still while
   * the machine sleeps.
   */
  readonly monotonic: number;
  /** Epoch milliseconds. This clock may step. */
  readonly wall: number;
}

/**
 * Returns the time since a moment by the clock that shows more of it. The monotonic clock may stand
 * still during sleep, and somebody may set the wall clock. Use it where too long a time does no
 * harm.
 */
export function maxElapsedMs({ monotonic, wall }: Instant, now: Instant): number {
  return Math.max(now.monotonic - monotonic, now.wall - wall);
}

/**
 * Returns the time that the wall clock gained on the monotonic clock since a moment: the machine
 * slept, or somebody set the wall clock forward. These two look the same. A negative number means
 * that somebody set the wall clock back.
 */
export function sleptSince({ monotonic, wall }: Instant, now: Instant): number {
  return now.wall - wall - (now.monotonic - monotonic);
}
