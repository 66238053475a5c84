import type { AccessToken } from './access-token.ts';
import type { Clock } from './clock.ts';
import type { Instant } from './instant.ts';

/**
 * A token that is handed out without a second look, for a second at most by either clock: a machine that slept, or a clock that was set, is
 * outside of it. It is an object by itself: with thousands of clients in a process, a call costs as much as the memory it touches.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** Already resolved: what every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  readonly from: Instant;
  readonly forMs: number;
  /** What the wall clock showed at the last call. */
  wall: number;
  /** Calls that were counted as a burst: how many in a row, and when the monotonic clock was read for the last one. */
  burst: number;
  readAt: number;
  /** So many calls more may go without the monotonic clock. */
  free: number;
}

/** So many calls in a row are a burst, and then so many more need no look at the monotonic clock. */
const burstCalls = 256;
const callInBurstMs = 0.05;

/** Trusts a token from now on. */
export function trustedToken(
  token: AccessToken,
  promise: Promise<AccessToken>,
  from: Instant,
  forMs: number,
): TrustedToken {
  return { token, promise, from, forMs, wall: from.wall, burst: 0, readAt: from.monotonic, free: 0 };
}

/**
 * Whether this moment is within the span. The wall clock tells, for it also counts sleep, unless it has not moved since the last call: then it
 * may stand still, as it does in test suites that freeze time, and the monotonic clock is asked as well. In a burst of calls, of which thousands
 * fall into one millisecond, it is asked once in a while.
 */
export function isTrusted(trusted: TrustedToken, clock: Clock): boolean {
  const wall = clock.now();
  const { from, forMs } = trusted;
  if (!(wall >= from.wall && wall - from.wall < forMs)) return false;
  if (wall !== trusted.wall) {
    trusted.wall = wall;
    return true;
  }
  if (trusted.free > 0) {
    trusted.free -= 1;
    return true;
  }
  return isTrustedByMonotonic(trusted, clock.monotonic());
}

function isTrustedByMonotonic(trusted: TrustedToken, monotonic: number): boolean {
  const calls = trusted.burst < burstCalls ? 1 : burstCalls + 1;
  trusted.burst = monotonic - trusted.readAt < calls * callInBurstMs ? Math.min(trusted.burst + 1, burstCalls) : 0;
  trusted.readAt = monotonic;
  trusted.free = trusted.burst < burstCalls ? 0 : burstCalls;
  return monotonic - trusted.from.monotonic < trusted.forMs;
}
