import { type Clock, instantOf } from './clock.ts';
import { maxElapsedMs } from './instant.ts';
import type { View } from './record-access.ts';

/** Returns the view with the time that the ledger has at this moment, or slightly more. */
export function aged(view: View, clock: Clock): View {
  const readAt = instantOf(clock);
  return { ...view, now: view.now + Math.ceil(maxElapsedMs(view.readAt, readAt)), readAt };
}

/** Converts an instant of the ledger to the wall clock of this machine. */
export function toLocalTime(at: number, view: View, clock: Clock): number {
  const ledgerNow = view.now + Math.ceil(clock.monotonic() - view.readAt.monotonic);
  return clock.now() + Math.round(at - ledgerNow);
}
