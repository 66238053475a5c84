import { admission } from './admission.ts';
import { roomExpectedAt } from './bound.ts';
import { compact } from './condense.ts';
import { type Denial, denialOf, fitOfNext, type Query, withReservation } from './decide.ts';
import type { Caller } from './holds.ts';
import type { Limits } from './limits.ts';
import { audienceStateOf, type IssuanceReason, type LedgerRecord } from './record.ts';

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

/** Returns how many tokens can be issued now for a purpose, if all requests succeed. */
export function availableFor(
  purpose: Purpose,
  record: LedgerRecord,
  now: number,
  caller: Caller,
  limits: Limits,
): number {
  if (nextDenialOf(record, now, caller, purpose, limits)) return 0;
  // Some requests hold up the next one, whatever room there is.
  const next = withReservation(record, now, queryOf(caller, purpose), purpose, limits);
  if (denialOf(next, now, caller, purpose, limits)) return 1;
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
    if (!denial) return refusal;
    refusal = { until: denial.retryAt, cause: denial.cause };
  }
  return refusal;
}

/** Returns why a caller gets no token at an instant: a hold, the limit, or a record without room for its token. */
function nextDenialOf(
  record: LedgerRecord,
  now: number,
  caller: Caller,
  purpose: Purpose,
  limits: Limits,
): Denial | undefined {
  const denial = denialOf(record, now, caller, purpose, limits);
  const next = withReservation(record, now, queryOf(caller, purpose), purpose, limits);
  const state = audienceStateOf(record, caller.audience, caller.keyId);
  if (denial || fitOfNext(state, purpose, next, now, limits) !== 'full') return denial;
  return { cause: 'full', retryAt: roomExpectedAt(record, now) };
}

function queryOf(caller: Caller, reason: Purpose): Query {
  // They have the size of real ones.
  const names = { id: 'reservation.', instance: 'one process.' };
  const asker = { ...caller, ...names, leaseMs: 1 };
  return { ...asker, reason, unreadable: false, unusable: [], resetUpTo: 0 };
}
