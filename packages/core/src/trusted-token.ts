import type { AccessToken } from './access-token.ts';

/**
 * A token that is handed out without a second look, for a second of the wall clock at most: a machine that slept, or a clock that was set, is
 * outside of it. It is an object by itself: with thousands of clients in a process, a call costs as much as the memory it touches.
 */
export interface TrustedToken {
  readonly token: AccessToken;
  /** Already resolved: what every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  /** Epoch milliseconds of this machine's clock. */
  readonly from: number;
  readonly forMs: number;
}

/** Whether `wall` is within the span. */
export function isTrusted({ from, forMs }: TrustedToken, wall: number): boolean {
  return wall >= from && wall - from < forMs;
}
