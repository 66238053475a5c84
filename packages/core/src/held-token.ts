import type { AccessToken } from './access-token.ts';
import { type Instant, sleptSince } from './clock.ts';
import type { Grant } from './grant.ts';

/** The token in memory, and what is known of it. Instants without further name are monotonic. */
export interface HeldToken extends Grant {
  /** Already resolved: what every `getToken()` returns. */
  readonly promise: Promise<AccessToken>;
  /** From when a renewal is due: 80 to 90 % of its life, drawn once. */
  readonly renewAt: number;
  /** The API answered 401 to it, and another one has not been looked for yet. */
  rejected: boolean;
  /** Sleep of up to this length needs no further report. */
  reportedSleepMs: number;
}

/**
 * What is handed out without a second look, for a second of the wall clock at most: a machine that slept, or a clock that was set, is outside of it.
 * An object by itself: with thousands of clients in a process, a call costs as much as the memory it touches.
 */
export interface Trusted extends Pick<HeldToken, 'token' | 'promise'> {
  readonly from: number;
  readonly forMs: number;
}

const minute = 60_000;
const shortLifeMs = 2 * minute;
const longestSleepMs = 7 * 24 * 60 * minute;

/** Keeps a grant. */
export function holdToken(grant: Grant): HeldToken {
  const { token, lifetimeMs, usableUntil } = grant;
  // A token of two minutes is renewed when it ends: ahead of that would spend the budget of a day in hours.
  const aheadMs = lifetimeMs < shortLifeMs ? 0 : lifetimeMs * (0.1 + 0.1 * Math.random());
  return {
    ...grant,
    promise: Promise.resolve(token),
    renewAt: usableUntil - aheadMs,
    rejected: false,
    reportedSleepMs: 0,
  };
}

/** The same token, its life counted anew. */
export function recount(held: HeldToken, { countedFrom, usableUntil }: Grant): HeldToken {
  const renewAt = held.renewAt + usableUntil - held.usableUntil;
  return { ...held, countedFrom, usableUntil, renewAt, reportedSleepMs: 0 };
}

/**
 * For how long the machine slept while its monotonic clock stood still, judged by the wall clock. A wall clock that was set forward by up to a
 * week looks the same, so it is asked again whether the token is still good; any other step means nothing. Less than a minute is in the margin.
 * Sleep while the token was on its way is included.
 */
export function sleptMs({ countedFrom }: HeldToken, now: Instant): number {
  const aheadMs = sleptSince(countedFrom, now);
  return aheadMs > minute && aheadMs <= longestSleepMs ? aheadMs : 0;
}

/** Whether the token has its margin of life left. */
export function isAlive(held: HeldToken, now: Instant): boolean {
  return now.monotonic < held.usableUntil - sleptMs(held, now);
}

/** Whether `wall` is within the span. */
export function isTrusted({ from, forMs }: Trusted, wall: number): boolean {
  return wall >= from && wall - from < forMs;
}
