import type { AccessToken } from './access-token.ts';
import type { Clock } from './clock.ts';
import type { Instant } from './instant.ts';

/**
 * A token that is served without another decision, for at most a second by either clock. After a sleep, or when a clock was set, that span is
 * over. The token is one small object, because with thousands of clients in a process a call costs as much as the memory it reads.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** The resolved promise that every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  readonly from: Instant;
  readonly forMs: number;
  /** The last moment at which both clocks were read. */
  readAt: { monotonic: number; wall: number };
  /** How many calls in a row were close together, up to a burst. */
  burst: number;
  /** How many more calls may read the wall clock alone. */
  free: number;
}

// A burst is this many calls in a row, each less than 50 µs after the one before. After a burst, as many calls read the wall clock alone.
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
  return { token, promise, from, forMs, readAt: { ...from }, burst: 0, free: 0 };
}

/**
 * Returns whether this moment lies within the span by both clocks. The monotonic clock does not count sleep, and the wall clock may stand still, as
 * in a test suite that freezes time. In a burst most calls read the wall clock alone, because reading a clock is most of their cost.
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
