import type { AccessToken } from './access-token.ts';
import { type Instant, sleptSince } from './instant.ts';

/** A token, and the monotonic instant until which this process may hand it out: its expiry less the margin. */
export interface UsableToken {
  readonly token: AccessToken;
  /** Orders the tokens of an audience: a later token has a higher generation. */
  readonly generation: number;
  /** Another process had it issued. */
  readonly adopted: boolean;
  readonly lifetimeMs: number;
  /** The moment from which `usableUntil` was computed. */
  readonly countedFrom: Instant;
  readonly usableUntil: number;
}

/** The token in memory. */
export interface CachedToken extends UsableToken {
  /** When its renewal is due: at 80 to 90 % of its life. */
  readonly renewAt: number;
}

const minute = 60_000;
const shortLifeMs = 2 * minute;
const maxSleepMs = 7 * 24 * 60 * minute;

/** Keeps a token. `random`: 0 to 1, so that the processes of a fleet do not renew in step. */
export function cachedToken(usable: UsableToken, random: number): CachedToken {
  const { lifetimeMs, usableUntil } = usable;
  // A token of less than two minutes is renewed when it ends: renewals ahead of that would spend the budget of a day in hours.
  const aheadMs = lifetimeMs < shortLifeMs ? 0 : lifetimeMs * (0.1 + 0.1 * random);
  return { ...usable, renewAt: usableUntil - aheadMs };
}

/** The same token, with its life counted anew. */
export function recounted(cached: CachedToken, { countedFrom, usableUntil }: UsableToken): CachedToken {
  return { ...cached, countedFrom, usableUntil, renewAt: cached.renewAt + usableUntil - cached.usableUntil };
}

/**
 * How long the machine slept since the token's life was counted, judged by the wall clock: the monotonic clock may have stood still. A wall
 * clock that was set forward by up to a week looks the same; then the record is asked again whether the token is still good. Any other
 * step means nothing, and less than a minute lies within the margin. Sleep while the token was on its way is included.
 */
export function sleptMs({ countedFrom }: UsableToken, now: Instant): number {
  const aheadMs = sleptSince(countedFrom, now);
  return aheadMs > minute && aheadMs <= maxSleepMs ? aheadMs : 0;
}

/** Whether the token has its margin of life left. */
export function isAlive(usable: UsableToken, now: Instant): boolean {
  return now.monotonic < usable.usableUntil - sleptMs(usable, now);
}
