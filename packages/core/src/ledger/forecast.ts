import { roomExpectedAt } from './compact.ts';
import { costOf, countsFrom, roomAt, roomIn } from './count.ts';
import { type Denial, fits, withReservation } from './decide.ts';
import { agreedTerms, type EnforcedTerm, enforcedTerms, type Situation, type TermLimits, termsAt } from './limits.ts';
import { type Asker, holdsOf, isAlone, lastOf, mostUnderWay, waitedFor } from './pace.ts';
import { type IssuanceReason, isOpen, type LedgerRecord, type Spent } from './record.ts';

/** The purposes for which the limit keeps different shares. */
export type Purpose = Exclude<IssuanceReason, 'expired'>;

/** The instant until which an asker is refused, and the cause. */
export interface Refused {
  readonly until: number;
  readonly cause: Denial['cause'];
}

/** A window is divided into this many steps to look ahead. */
const steps = 96;

/** Returns how many tokens can be issued now for a purpose, if all requests succeed. */
export function availableFor(purpose: Purpose, situation: Situation, asker: Asker): number {
  if (waitedFor(situation, asker).length > 0) return 0;
  if (refusedUntil(situation, asker, purpose)) return 0;
  const { record, now } = situation;
  const open = record.spent.filter((one) => isOpen(one, now)).length;
  // In these cases the next request waits for this one, whatever room there is.
  const isLast = isAlone(record, asker) || open + 1 >= mostUnderWay(situation);
  const most = isLast || purpose === 'rejected' ? 1 : Number.POSITIVE_INFINITY;
  const rooms = termsAt(enforcedTerms(situation), now).map((enforced) => roomIn(situation, enforced, purpose));
  return Math.min(most, ...rooms.map(({ room }) => room));
}

/**
 * Returns the instant until which an asker is refused, if nothing else happens. Undefined: it is
 * not refused.
 */
export function refusedUntil(situation: Situation, asker: Asker, purpose: Purpose = 'cold'): Refused | undefined {
  const { record, now } = situation;
  const last = lastOf(holdsOf(situation, asker, purpose));
  if (last.until > now) return { until: last.until, cause: last.kind };
  // These values have the size of real ones.
  const query = { ...asker, id: 'reservation.', instance: 'one process.', leaseMs: 1, unusable: [], resetUpTo: 0 };
  const next = withReservation(record, now, { ...query, reason: purpose }, purpose);
  return fits({ ...situation, ...next }, purpose) ? undefined : { until: roomExpectedAt(record, now), cause: 'full' };
}

/**
 * Returns the instant at which no window has room for an asker without a token any more, if tokens
 * go on being spent as in the last quarter of each window. Undefined: that will not happen.
 */
export function spentAt(situation: Situation): number | undefined {
  const terms = termsAt(agreedTerms(situation), situation.now);
  const instants = terms.map(({ term }) => spentInTerm(situation, term));
  const known = instants.filter((at) => at !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function spentInTerm({ record, now }: Situation, term: TermLimits): number | undefined {
  const enforced: EnforcedTerm = { term, own: true, enforcedUntil: Number.POSITIVE_INFINITY };
  let future = record;
  if (roomAt(future, enforced, 'cold') > now) return now;
  const everyMs = meanTimeBetween(record, now, term);
  // Tokens of unknown outcome count for minutes longer than a window, however short it is.
  const stepMs = Math.max(everyMs, term.windowMs / steps, term.pendingMs / (2 * steps));
  // The spending of one window decides about all later ones.
  for (let at = now + stepMs; at <= now + term.pendingMs; at += stepMs) {
    const spent: Spent = {
      ...{ id: '', at, generation: 0, name: '', keyId: '', instance: '', reason: 'several' },
      ...{ issuedAt: at, tokens: stepMs / everyMs },
    };
    future = { ...future, spent: [...future.spent, spent] };
    if (roomAt(future, enforced, 'cold') > at) return Math.ceil(at);
  }
  return undefined;
}

/**
 * Returns the mean time between two tokens in the last quarter of a window. Tokens that were spent
 * within an hour of a day are spread over that hour.
 */
function meanTimeBetween({ spent }: LedgerRecord, now: number, term: TermLimits): number {
  const { windowMs } = term;
  const recent = spent.filter((one) => {
    return one.reason !== 'stated' && costOf(one, term) > 0 && countsFrom(one) > now - windowMs / 4;
  });
  const intervals = recent.reduce((sum, one) => sum + costOf(one, term), 0) - 1;
  if (intervals < 1) return Number.POSITIVE_INFINITY;
  return Math.max(now - Math.min(...recent.map(countsFrom)), windowMs / 24) / intervals;
}
