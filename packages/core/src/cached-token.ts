import type { AccessToken } from './access-token.ts';
import { type Instant, sleptSince } from './instant.ts';
import { marginOf } from './ledger/decide.ts';

/** A token that this process can serve. */
export interface UsableToken {
  readonly token: AccessToken;
  /** Orders the tokens of an audience: a later token has a higher generation. */
  readonly generation: number;
  /** Another process requested the token. */
  readonly adopted: boolean;
  readonly lifetimeMs: number;
  /** The moment from which `usableUntil` was computed. */
  readonly countedFrom: Instant;
  /** The monotonic instant at which the process stops serving the token: its expiry less the margin. */
  readonly usableUntil: number;
}

/** The token in memory. */
export interface CachedToken extends UsableToken {
  /**
   * When its renewal is due: 10 to 20 % of its life before `usableUntil`, or at `usableUntil` if it lives for less than two minutes. A monotonic
   * instant.
   */
  readonly renewAt: number;
}

const minute = 60_000;
const shortLifeMs = 2 * minute;
const maxSleepMs = 7 * 24 * 60 * minute;

/** Puts a token into memory. `random`: 0 to 1, so that the processes of a fleet do not renew at the same moment. */
export function cachedToken(usable: UsableToken, random: number): CachedToken {
  const { token, generation, adopted, lifetimeMs, countedFrom, usableUntil } = usable;
  // A token that lives for less than two minutes is renewed at its end. Earlier renewals would spend the budget of a day within hours.
  const aheadMs = lifetimeMs < shortLifeMs ? 0 : lifetimeMs * (0.1 + 0.1 * random);
  return { token, generation, adopted, lifetimeMs, countedFrom, usableUntil, renewAt: usableUntil - aheadMs };
}

/** Returns the same token with its life counted anew. */
export function recounted(cached: CachedToken, { countedFrom, usableUntil }: UsableToken): CachedToken {
  return { ...cached, countedFrom, usableUntil, renewAt: cached.renewAt + usableUntil - cached.usableUntil };
}

/**
 * Returns for how many milliseconds the machine slept since the token's life was counted. Less than a minute lies within the margin and gives 0.
 * The wall clock tells it, because the monotonic clock may stand still during sleep. A wall clock that was set forward by up to a week looks
 * the same; the record says then whether the token is still good. A wall clock that made any other step is ignored.
 */
export function machineSleepMs({ countedFrom }: UsableToken, now: Instant): number {
  const aheadMs = sleptSince(countedFrom, now);
  return aheadMs > minute && aheadMs <= maxSleepMs ? aheadMs : 0;
}

/** Returns whether the token lived for less than a twentieth of its life: another one would hardly live longer. */
export function isYoung({ usableUntil, lifetimeMs }: UsableToken, now: Instant): boolean {
  return usableUntil - now.monotonic > lifetimeMs * 0.95 - marginOf(lifetimeMs);
}

/** Returns whether the token has more life left than its margin. */
export function isAlive(usable: UsableToken, now: Instant): boolean {
  return now.monotonic < usable.usableUntil - machineSleepMs(usable, now);
}
