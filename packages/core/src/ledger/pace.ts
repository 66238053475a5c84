import { admission } from './admission.ts';
import type { Limits, TermLimits } from './limits.ts';
import type { LedgerRecord } from './record.ts';
import { enforcedTerms } from './terms.ts';

/** A window is divided into this many steps to look ahead. */
const steps = 96;

/**
 * Returns the instant at which no window has room for a caller without a token any more, if tokens go on being spent as in the last quarter of each window.
 * Undefined: that will not happen. The record must be reconciled.
 */
export function spentAt(record: LedgerRecord, now: number, limits: Limits): number | undefined {
  const instants = enforcedTerms(record, now, limits).map(({ term }) => spentInTerm(record, now, term, limits));
  const known = instants.filter((at) => at !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function spentInTerm(record: LedgerRecord, now: number, term: TermLimits, limits: Limits): number | undefined {
  const alone = { ...limits, terms: [term] };
  let future: LedgerRecord = { ...record, terms: [] };
  const hasRoomAt = (at: number) => admission(future, at, alone, 'cold').every(({ room }) => room >= 1);
  if (!hasRoomAt(now)) return now;
  const everyMs = paceOf(record, now, term);
  // Entries of unknown outcome count for minutes longer than a window, however short it is.
  const stepMs = Math.max(everyMs, term.windowMs / steps, term.pendingMs / (2 * steps));
  // The spending of one window decides about all later ones.
  for (let at = now + stepMs; at <= now + term.pendingMs; at += stepMs) {
    future = { ...future, condensed: [...future.condensed, { at, pending: false, count: stepMs / everyMs }] };
    if (!hasRoomAt(at)) return Math.ceil(at);
  }
  return undefined;
}

/** Returns the mean time between two tokens in the last quarter of a window. Tokens that were spent within an hour of a day are spread over that hour. */
function paceOf({ entries, condensed }: LedgerRecord, now: number, { windowMs }: TermLimits): number {
  const recent = [...entries.map(({ at }) => ({ at, count: 1 })), ...condensed].filter(
    ({ at }) => at > now - windowMs / 4,
  );
  const intervals = recent.reduce((sum, { count }) => sum + count, -1);
  if (intervals < 1) return Number.POSITIVE_INFINITY;
  return Math.max(now - Math.min(...recent.map(({ at }) => at)), windowMs / 24) / intervals;
}
