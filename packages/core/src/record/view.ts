import type { Situation } from '../ledger/limits.ts';
import { type Clock, instantOf } from '../platform/clock.ts';
import { type Instant, maxElapsedMs } from '../platform/instant.ts';

/** The situation when a process read or wrote the record. */
export interface View extends Situation {
  /** The moment just before the store was asked, so never later than the moment of `now`. */
  readonly readAt: Instant;
  /** The lead of the store's clock over the wall clock of this machine, in milliseconds. */
  readonly storeAheadMs: number;
  readonly version: string | undefined;
  /** Problems of the store that endanger the record. */
  readonly warnings?: readonly string[];
  /** True if the store has another record. Write this one before you use it. */
  readonly isChanged?: boolean;
  /**
   * True if the stored record lacks the terms of this process, or they were stated too long ago.
   */
  readonly isStatementDue?: boolean;
}

/** Returns the view with the record's present time, or a slightly later one. */
export function viewNow(view: View, clock: Clock): View {
  const readAt = instantOf(clock);
  return { ...view, now: view.now + Math.ceil(maxElapsedMs(view.readAt, readAt)), readAt };
}

/** Converts an instant of the record to the wall clock of this machine. */
export function toLocalTime(at: number, view: View, clock: Clock): number {
  const ledgerNow = view.now + Math.ceil(clock.monotonic() - view.readAt.monotonic);
  return clock.now() + Math.round(at - ledgerNow);
}
