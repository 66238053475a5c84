import { type Clock, instantOf } from '../platform/clock.ts';
import { maxElapsedMs } from '../platform/instant.ts';
import type { View } from './record-access.ts';

/** Returns the view with the time that the record has at this moment, or slightly more. */
export function viewNow(view: View, clock: Clock): View {
  const readAt = instantOf(clock);
  return { ...view, now: view.now + Math.ceil(maxElapsedMs(view.readAt, readAt)), readAt };
}

/** Converts an instant of the record to the wall clock of this machine. */
export function toLocalTime(at: number, view: View, clock: Clock): number {
  const ledgerNow = view.now + Math.ceil(clock.monotonic() - view.readAt.monotonic);
  return clock.now() + Math.round(at - ledgerNow);
}
