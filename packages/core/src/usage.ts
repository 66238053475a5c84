import type { Clock } from './clock.ts';
import { freeAt, type Limits, roomAt, spent } from './ledger/limits.ts';
import type { IssuanceReason } from './ledger/record.ts';
import { toLocalTime, type View } from './shared-ledger.ts';

/** A token that was issued, or may have been issued. */
export interface Issuance {
  /** The id of the token, as in `AccessToken.id`. */
  readonly id: string;
  /** When it was issued, in epoch milliseconds of this machine's clock. */
  readonly at: number;
  readonly reason: IssuanceReason;
  /** The `instance` option of the process that requested it. */
  readonly instance: string;
  readonly audience: string;
  /** True: the request is under way, or its outcome is unknown. The token counts as issued. */
  readonly pending: boolean;
}

/** The tokens of the window. All counts are those of the whole fleet that shares the store. */
export interface Usage {
  /** The tokens of a window as agreed with the operator. */
  readonly limit: number;
  /** The tokens that the fleet may spend: `limit` less the reserve. */
  readonly usable: number;
  /** The spent tokens, including pending ones. */
  readonly used: number;
  /** The pending tokens: their requests are under way, or the outcome is unknown. */
  readonly pending: number;
  /** `usable` less `used`. */
  readonly remaining: number;
  /** When the next spent token leaves the window, in epoch milliseconds of this machine's clock. Undefined: no token is spent. */
  readonly nextFreeAt: number | undefined;
  /**
   * The instant until which the budget has no token for a caller without one, in epoch milliseconds. Undefined: it has one. `remaining` need not be 0
   * for that: some slots are kept for `reset()`, and a new record of a shared store starts with few, because it may replace a lost one.
   */
  readonly refusedUntil: number | undefined;
  /** The window in milliseconds. Tokens count for slightly longer, which is safe for rolling and for calendar windows. */
  readonly windowMs: number;
  /** The newest issuances, at most 150. The newest comes first. */
  readonly issuances: readonly Issuance[];
}

/** Computes the usage from a record. */
export function usageOf(view: View, limits: Limits, clock: Clock): Usage {
  const { record, now } = view;
  const { used, pending } = spent(record);
  const roomyAt = roomAt(record, now, limits, 'cold');
  const local = (at: number) => toLocalTime(at, view, clock);
  return {
    limit: limits.limit,
    usable: limits.usable,
    used,
    pending,
    remaining: Math.max(0, limits.usable - used),
    nextFreeAt: used > 0 ? local(freeAt(record, now, limits, used)) : undefined,
    refusedUntil: roomyAt > now ? local(roomyAt) : undefined,
    windowMs: limits.windowMs,
    issuances: record.entries.map((entry) => ({ ...entry, at: local(entry.at) })).reverse(),
  };
}
