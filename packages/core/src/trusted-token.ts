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
  /** When both clocks were read last. */
  readAt: { monotonic: number; wall: number };
  /** How many calls came so close together that they are a burst, and how many more may go by the wall clock alone. */
  burst: number;
  free: number;
}

/** So many calls in a row, none of them 50 µs after the one before, are a burst. Then as many go by the wall clock alone. */
const burstCalls = 256;
const callInBurstMs = 0.05;
const maxBurstMs = (burstCalls + 1) * callInBurstMs;

/** Trusts a token from now on. */
export function trustedToken(
  token: AccessToken,
  promise: Promise<AccessToken>,
  from: Instant,
  forMs: number,
): TrustedToken {
  return { token, promise, from, forMs, readAt: { ...from }, burst: 0, free: 0 };
}

/**
 * Whether this moment is within the span by both clocks: the monotonic clock does not count sleep, and the wall clock may stand still, as it does in
 * test suites that freeze time. In a burst the monotonic clock is asked once in a while, so that a call costs one look at a clock.
 */
export function isTrusted(trusted: TrustedToken, clock: Clock): boolean {
  const wall = clock.now();
  const { from, forMs, readAt } = trusted;
  if (!(wall >= from.wall && wall - from.wall < forMs)) return false;
  if (trusted.free > 0 && wall - readAt.wall < maxBurstMs) {
    trusted.free -= 1;
    return true;
  }
  return isTrustedByBoth(trusted, wall, clock.monotonic());
}

function isTrustedByBoth(trusted: TrustedToken, wall: number, monotonic: number): boolean {
  const { readAt, from } = trusted;
  const calls = trusted.burst < burstCalls ? 1 : burstCalls + 1;
  trusted.burst = monotonic - readAt.monotonic < calls * callInBurstMs ? Math.min(trusted.burst + 1, burstCalls) : 0;
  trusted.free = trusted.burst < burstCalls ? 0 : burstCalls;
  readAt.monotonic = monotonic;
  readAt.wall = wall;
  return monotonic - from.monotonic < trusted.forMs;
}
