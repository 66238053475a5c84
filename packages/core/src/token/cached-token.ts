import { type AccessToken, createAccessToken, schemeOf } from '../contract/access-token.ts';
import { marginOf, maxLifetimeMs } from '../ledger/record.ts';
import { minute, second } from '../ledger/units.ts';
import { type Instant, sleptSince } from '../platform/instant.ts';

/** A token that this process can serve. */
export interface UsableToken {
  readonly token: AccessToken;
  /** Orders the tokens of an audience: a later token has a higher generation. */
  readonly generation: number;
  /** True if another process requested the token. */
  readonly adopted: boolean;
  readonly lifetimeMs: number;
  /** The moment from which `usableUntil` was computed. */
  readonly countedFrom: Instant;
  /**
   * The monotonic instant at which the process stops serving the token: its expiry less the margin.
   */
  readonly usableUntil: number;
}

/** The token in memory. */
export interface CachedToken extends UsableToken {
  /**
   * When its renewal is due: 10 to 20 % of its life before `usableUntil`, or at `usableUntil` if it
   * lives for less than two minutes. A monotonic instant.
   */
  readonly renewAt: number;
}

const shortLifeMs = 2 * minute;

/**
 * Puts a token into memory. `random`: 0 to 1, so that the processes of a fleet do not renew at the
 * same moment.
 */
export function cachedToken(usable: UsableToken, random: number): CachedToken {
  const { token, generation, adopted, lifetimeMs, countedFrom, usableUntil } = usable;
  // A token that lives for less than two minutes is renewed at its end. Earlier renewals would
  // spend the budget of a day within hours.
  const aheadMs = lifetimeMs < shortLifeMs ? 0 : lifetimeMs * (0.1 + 0.1 * random);
  return { token, generation, adopted, lifetimeMs, countedFrom, usableUntil, renewAt: usableUntil - aheadMs };
}

/** Returns the same token with its life counted anew, which never makes its life longer. */
export function recounted(cached: CachedToken, { countedFrom, usableUntil }: UsableToken): CachedToken {
  const until = Math.min(cached.usableUntil, usableUntil);
  return { ...cached, countedFrom, usableUntil: until, renewAt: cached.renewAt + until - cached.usableUntil };
}

/**
 * Returns the milliseconds that the machine slept since the token's life was counted; 0 if they
 * are at most `unnoticedMs` (default: the margin of the token). The wall clock shows it, because
 * the monotonic clock may stand still during sleep. A wall clock that was set forward by up to a
 * month looks the same; the record says then whether the token is still good. A wall clock that
 * made any other step is ignored: no token lives for longer than a month.
 */
export function machineSleepMs(
  { countedFrom, lifetimeMs }: UsableToken,
  now: Instant,
  unnoticedMs: number = marginOf(lifetimeMs),
): number {
  const aheadMs = sleptSince(countedFrom, now);
  return aheadMs > unnoticedMs && aheadMs <= maxLifetimeMs ? aheadMs : 0;
}

/** Returns the life that the token has left, less its margin, in milliseconds. */
export function servableLifeMs(usable: UsableToken, now: Instant, unnoticedMs?: number): number {
  return usable.usableUntil - machineSleepMs(usable, now, unnoticedMs) - now.monotonic;
}

/**
 * Returns the cached token with its expiry by the present wall clock, which changes if that clock
 * is set. `served`: the token that callers have. It is returned if it is the same token, and its
 * expiry differs by at most a second, or by the margin of the token.
 */
export function withExpiry(served: AccessToken | undefined, cached: UsableToken, now: Instant): AccessToken {
  const { token, lifetimeMs } = cached;
  const before = served?.id === token.id ? served : token;
  // The margin covers a short sleep, but callers must see the exact expiry.
  const marginMs = marginOf(lifetimeMs);
  const expiresAt = Math.round(now.wall + servableLifeMs(cached, now, 0) + marginMs);
  if (Math.abs(expiresAt - before.expiresAt) <= Math.min(second, marginMs)) return before;
  return createAccessToken(token.id, token.value, expiresAt - lifetimeMs, expiresAt, schemeOf(token));
}

/**
 * Returns whether the token has lived for less than a twentieth of its life, so that another token
 * would hardly live longer.
 */
export function isYoung(usable: UsableToken, now: Instant): boolean {
  const { lifetimeMs } = usable;
  return servableLifeMs(usable, now) > lifetimeMs * 0.95 - marginOf(lifetimeMs);
}

/** Returns the least age of the token, in milliseconds. */
export function ageMs(usable: UsableToken, now: Instant): number {
  const { lifetimeMs } = usable;
  return lifetimeMs - marginOf(lifetimeMs) - servableLifeMs(usable, now);
}

/** Returns whether the token has more life left than its margin. */
export function isAlive(usable: UsableToken, now: Instant): boolean {
  return servableLifeMs(usable, now) > 0;
}
