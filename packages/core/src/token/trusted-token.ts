import type { AccessToken } from '../contract/access-token.ts';
import type { Clock } from '../platform/clock.ts';

/**
 * A token that is served without another decision, for less than a second by the wall clock: a step of that clock, a leap or a sleep ends this. The
 * token is one small object, because with thousands of clients in a process a call costs as much as the memory it reads.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** The resolved promise that every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  /** The beginning of the span, by the wall clock. */
  readonly from: number;
  /** The length of the span. 0: it was ended. */
  forMs: number;
}

/** Ends the span. A wall clock that has left it must not come back into it when it is set back. */
export function distrust(trusted: TrustedToken | undefined): void {
  if (trusted) trusted.forMs = 0;
}

/** Returns whether this moment lies within the span. It reads the wall clock alone, because reading a clock is most of the cost of a call. */
export function isTrusted({ from, forMs }: TrustedToken, clock: Clock): boolean {
  const afterMs = clock.now() - from;
  return afterMs >= 0 && afterMs < forMs;
}
