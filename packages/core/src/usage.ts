import type { Clock } from './clock.ts';
import { freeAt, type Limits, roomAt, spent } from './ledger/limits.ts';
import type { IssuanceReason } from './ledger/record.ts';
import { toLocalTime, type View } from './shared-ledger.ts';

/** One issued token, or one that may have been issued, as the ledger remembers it. */
export interface Issuance {
  /** The token's id; `AccessToken.id` is the same. */
  readonly id: string;
  /** Epoch milliseconds of this machine's clock. */
  readonly at: number;
  readonly reason: IssuanceReason;
  /** The `instance` option of the process that asked. */
  readonly instance: string;
  readonly audience: string;
  /** Not settled: the request is under way, or its outcome is unknown and counts as issued. */
  readonly pending: boolean;
}

/** Where the window's tokens went. Counts are those of the whole fleet that shares the store. */
export interface Usage {
  /** Tokens per window as agreed with the operator. */
  readonly limit: number;
  /** What of it this ledger may spend: `limit` less the reserve. */
  readonly usable: number;
  /** Spent, pending ones included. */
  readonly used: number;
  /** Of `used`: requests under way or of unknown outcome. */
  readonly pending: number;
  /** `usable` less `used`. */
  readonly remaining: number;
  /** When the next spent token leaves the window, in epoch milliseconds of this machine's clock; undefined when none is spent. */
  readonly nextFreeAt: number | undefined;
  /**
   * Until when a caller without any token would be refused, in epoch milliseconds; undefined when it would not. That is so before `remaining`
   * is 0: some slots are kept for `reset()`, and a new record of a shared store, which may follow one that was lost, begins with few.
   */
  readonly refusedUntil: number | undefined;
  /** The operator's window. The ledger counts a little longer, so that it is safe for rolling and for calendar windows. */
  readonly windowMs: number;
  /** The newest first, at most 150. */
  readonly issuances: readonly Issuance[];
}

/** Adds up what a record says. */
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
