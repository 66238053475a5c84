import type { IssuanceReason, StoreDurability } from '@service-auth/core';
import type { Term } from './scene.ts';
import { hour, minute, second } from './units.ts';

// The numbers that docs/the-reserve.md and docs/what-counts.md promise.

/** The agreement that a process keeps to if it inherits none. */
export const usual: Term = { tokens: 150, windowMs: 24 * 3_600_000 };

/** The tokens that may be spent. Without a `reserve` the store decides how many are kept back. */
export function usableOf(tokens: number, reserve: number | undefined, durability: StoreDurability): number {
  return tokens - (reserve ?? Math.min(tokens - 1, Math.ceil(tokens / (durability === 'replicated' ? 2 : 5))));
}

/** A token for this reason is issued while fewer than this are spent. `renewals`: so many may be renewals after a 401. */
export function sharesOf(usable: number): Readonly<Record<IssuanceReason | 'renewals', number>> {
  const withoutReset = usable - Math.min(10, Math.floor(usable / 12));
  return {
    refresh: Math.floor(usable * 0.7),
    cold: withoutReset,
    expired: withoutReset,
    rejected: withoutReset,
    reset: usable,
    renewals: Math.max(1, Math.floor(usable / 3)),
  };
}

/** For so long a token counts, and one of unknown outcome. */
export function countsForMs(windowMs: number, isUnknown: boolean): number {
  const spanMs = windowMs + Math.min(hour, windowMs / 24);
  return (
    spanMs +
    (isUnknown
      ? Math.min(2 * hour, Math.max(7 * minute, windowMs / 12))
      : Math.min(10 * minute, Math.max(2 * second, windowMs / 144)))
  );
}

/** While a record does not know everything, it may gain so many tokens. */
export function youngMayGain(tokens: number, usable: number, durability: StoreDurability): number {
  const reserve = tokens - usable;
  if (durability === 'process' || reserve === 0) return usable;
  return Math.min(usable, Math.max(1, Math.floor(reserve / (durability === 'replicated' ? 3 : 1))));
}

/** From a decision to the request that follows it. */
export const sentWithinMs: number = 12 * second;

/** The endpoint says with this status that it issued no token. */
export function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && ![408, 425].includes(status);
}
