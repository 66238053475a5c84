import type { AccessToken } from '../contract/access-token.ts';
import type { Clock } from '../platform/clock.ts';
import type { Instant } from '../platform/instant.ts';

/**
 * A token that is served without another decision, for at most a second by either clock. After a sleep, or when a clock was set, that span is
 * over. The token is one small object, because with thousands of clients in a process a call costs as much as the memory it reads.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** The resolved promise that every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  /** The beginning of the span, by each clock. */
  readonly fromMonotonic: number;
  readonly fromWall: number;
  /** The length of the span. 0: it was ended. */
  forMs: number;
  /** The last moment at which both clocks were read: a monotonic instant, and milliseconds since `fromWall`. */
  readMonotonic: number;
  readAfterMs: number;
  /** The number of calls in a row that were close together, up to a burst. */
  burst: number;
  /** The number of further calls that may read the wall clock alone. */
  free: number;
}

// After so many calls in a row, each less than 50 µs after the one before, the next ones read only the wall clock: as many again.
const burstCalls = 256;
const callInBurstMs = 0.05;
const maxBurstMs = (burstCalls + 1) * callInBurstMs;

/** Trusts a token from the moment `from` for `forMs`. */
export function trustedToken(
  token: AccessToken,
  promise: Promise<AccessToken>,
  from: Instant,
  forMs: number,
): TrustedToken {
  const { monotonic, wall } = from;
  return {
    token,
    promise,
    fromMonotonic: monotonic,
    fromWall: wall,
    // A number without a fraction needs no memory of its own.
    forMs: Math.floor(forMs),
    readMonotonic: monotonic,
    readAfterMs: 0,
    burst: 0,
    free: 0,
  };
}

/** Ends the span. A wall clock that has left it must not come back into it when it is set back. */
export function distrust(trusted: TrustedToken | undefined): void {
  if (trusted) trusted.forMs = 0;
}

/**
 * Returns whether this moment lies within the span by both clocks. The monotonic clock does not count sleep, and the wall clock may stand still, as
 * in a test suite that freezes time. In a burst most calls read the wall clock alone, because reading a clock is most of their cost.
 */
export function isTrusted(trusted: TrustedToken, clock: Clock): boolean {
  const afterMs = clock.now() - trusted.fromWall;
  if (!(afterMs >= 0 && afterMs < trusted.forMs)) return false;
  if (trusted.free > 0 && afterMs - trusted.readAfterMs < maxBurstMs) {
    trusted.free -= 1;
    return true;
  }
  return isTrustedByBoth(trusted, afterMs, clock.monotonic());
}

function isTrustedByBoth(trusted: TrustedToken, afterMs: number, monotonic: number): boolean {
  const calls = trusted.burst < burstCalls ? 1 : burstCalls + 1;
  const isClose = monotonic - trusted.readMonotonic < calls * callInBurstMs;
  trusted.burst = isClose ? Math.min(trusted.burst + 1, burstCalls) : 0;
  trusted.free = trusted.burst < burstCalls ? 0 : burstCalls;
  trusted.readMonotonic = monotonic;
  trusted.readAfterMs = afterMs;
  return monotonic - trusted.fromMonotonic < trusted.forMs;
}
