import { roomExpectedAt } from './bound.ts';
import { compact } from './compact.ts';
import { admission, countOf, partsOf } from './count.ts';
import { type Denial, denialOf, hasRoomForNext, type Query, withAttempt } from './decide.ts';
import type { Caller, Hold } from './holds.ts';
import type { IssuanceReason, LedgerRecord } from './journal.ts';
import type { Limits, TermLimits } from './limits.ts';
import { glanceAt, pace } from './pace.ts';
import { enforcedTerms } from './terms.ts';

// Tells what the record allows next. Every answer comes from the functions that decide about a token. The record must be reconciled.

/** The purposes for which the limit keeps different shares. */
export type Purpose = Exclude<IssuanceReason, 'expired'>;

/** A caller is refused until this instant. `cause`: what denies a token then. */
export interface Refusal {
  readonly until: number;
  readonly cause: Denial['cause'];
}

/** Whenever one denial ends there may be another one. There are fewer of them than this. */
const maxDenials = 50;
/** A window is divided into this many steps to look ahead. */
const steps = 96;

/** Returns how many tokens can be issued now for a purpose, if all requests succeed. */
export function availableFor(
  purpose: Purpose,
  record: LedgerRecord,
  now: number,
  caller: Caller,
  limits: Limits,
): number {
  const asked = pace(record, now, caller, purpose, limits);
  if (asked.waitsUntil > now || nextDenialOf(record, now, caller, purpose, limits)) return 0;
  // Some requests hold up the next one, whatever room there is.
  const next = withAttempt(record, now, queryOf(caller, purpose), purpose, asked);
  const after = pace(next, now, caller, purpose, limits);
  if (after.waitsUntil > now || denialOf(next, now, after, purpose, limits)) return 1;
  return Math.min(...admission(record, now, limits, purpose).map(({ room }) => room));
}

/** Returns until when a caller is refused, if nothing else happens. Undefined: it is not refused. */
export function refusalOf(
  record: LedgerRecord,
  now: number,
  caller: Caller,
  limits: Limits,
  purpose: Purpose = 'cold',
): Refusal | undefined {
  let refusal: Refusal | undefined;
  for (let denials = 0; denials < maxDenials; denials++) {
    const at = refusal?.until ?? now;
    const denial = nextDenialOf(compact(record, at, limits), at, caller, purpose, limits);
    if (!denial) break;
    refusal = { until: denial.retryAt, cause: denial.cause };
  }
  return refusal;
}

/** Returns what holds up callers that a record knows, and what did: each hold once, and for as long as it holds up any of them. */
export function holdsOf(record: LedgerRecord, now: number, limits: Limits): Hold[] {
  const glance = glanceAt(record, now, limits);
  // Whatever holds up a caller without a token holds up one whose token was rejected, too.
  const reasons = ['rejected', 'refresh'] as const;
  const holds = callersIn(record).flatMap((caller) => {
    return reasons.flatMap((reason) => pace(record, now, caller, reason, limits, glance).holds);
  });
  holds.sort((one, other) => one.until - other.until);
  const name = ({ kind, audience, attempt }: Hold) => JSON.stringify([kind, audience, attempt?.id]);
  return [...new Map(holds.map((hold) => [name(hold), hold])).values()];
}

/** Returns who has asked for tokens. */
export function callersIn({ attempts, tokens }: LedgerRecord): Caller[] {
  const callers = [...attempts, ...tokens.map((token) => ({ ...token, secretId: '' }))].map(
    ({ audience, keyId, secretId }): Caller => ({ audience, keyId, secretId }),
  );
  return [...new Map(callers.map((caller) => [JSON.stringify(caller), caller])).values()];
}

/** Returns why a caller gets no token at an instant: a hold, the limit, or a record without room for its token. */
function nextDenialOf(
  record: LedgerRecord,
  now: number,
  caller: Caller,
  purpose: Purpose,
  limits: Limits,
): Denial | undefined {
  const asked = pace(record, now, caller, purpose, limits);
  const denial = denialOf(record, now, asked, purpose, limits);
  const next = withAttempt(record, now, queryOf(caller, purpose), purpose, asked);
  if (denial || hasRoomForNext(record, caller, purpose, next, now, limits)) return denial;
  return { cause: 'full', retryAt: roomExpectedAt(record, now) };
}

function queryOf(caller: Caller, reason: Purpose): Query {
  // They have the size of real ones.
  const names = { id: 'reservation.', instance: 'one process.' };
  return { ...caller, ...names, leaseMs: 1, reason, unusable: [], resetUpTo: 0 };
}

/**
 * Returns the instant at which no window has room for a caller without a token any more, if tokens go on being spent as in the last quarter of each window.
 * Undefined: that will not happen.
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
  const everyMs = meanTimeBetween(record, now, term);
  // Tokens of unknown outcome count for minutes longer than a window, however short it is.
  const stepMs = Math.max(everyMs, term.windowMs / steps, term.pendingMs / (2 * steps));
  // The spending of one window decides about all later ones.
  for (let at = now + stepMs; at <= now + term.pendingMs; at += stepMs) {
    const spent = { epoch: '', slot: 0, unknown: false, last: at, count: stepMs / everyMs };
    future = { ...future, buckets: [...future.buckets, spent] };
    if (!hasRoomAt(at)) return Math.ceil(at);
  }
  return undefined;
}

/** Returns the mean time between two tokens in the last quarter of a window. Tokens that were spent within an hour of a day are spread over that hour. */
function meanTimeBetween(record: LedgerRecord, now: number, term: TermLimits): number {
  const { windowMs } = term;
  const recent = partsOf({ ...record, orders: [] }, now, term).filter(({ at }) => at > now - windowMs / 4);
  const intervals = countOf(recent) - 1;
  if (intervals < 1) return Number.POSITIVE_INFINITY;
  return Math.max(now - Math.min(...recent.map(({ at }) => at)), windowMs / 24) / intervals;
}
