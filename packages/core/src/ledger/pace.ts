import {
  type Caller,
  concerns,
  endedBy,
  type Hold,
  refusalHold,
  rejections,
  renewalHolds,
  toldHolds,
} from './holds.ts';
import type { Attempt, IssuanceReason, LedgerRecord } from './journal.ts';
import type { Limits } from './limits.ts';
import { orderedAt } from './orders.ts';
import { isAboutClient, type Refused, refusalsOf } from './refusals.ts';
import { pauseAfter, sparing } from './sparing.ts';
import { type Fleet, fleetOf, isAfter, lastOf, type Mark, type Streak } from './streaks.ts';
import { enforcedTerms } from './terms.ts';

const minute = 60_000;
const hour = 60 * minute;
/** At most this many token requests of a fleet may be under way. */
const mostOpen = 256;

/** The answer of {@link pace}. */
export interface Pace {
  /** What holds the caller up, and what did. It may ask when all of them have ended. */
  readonly holds: readonly Hold[];
  /** The requests under way for whose outcomes it waits end by then. 0: it waits for none. */
  readonly waitsUntil: number;
  /** What the attempt carries on, so that earlier ones may be forgotten. */
  readonly carried: Pick<Attempt, 'streak' | 'fleetStreak'>;
}

/** What many questions to {@link pace} about one record and instant have in common. */
export interface Glance {
  readonly fleet: Fleet;
  readonly refusals: readonly Refused[];
  /** The smallest number of usable tokens of a term. */
  readonly leastUsable: number;
  /** When an audience may ask that failed so often in a row: rule 2. */
  readonly sparedUntil: (failures: number) => number;
  /** Pauses that began before this are over, because somebody ordered to try again. */
  readonly endedAt: Mark;
}

export function glanceAt(record: LedgerRecord, now: number, limits: Limits): Glance {
  const fleet = fleetOf(record, now);
  const endedAt = orderedAt(record);
  return {
    fleet,
    refusals: refusalsOf(record),
    leastUsable: Math.min(...enforcedTerms(record, now, limits).map(({ term }) => term.usable)),
    sparedUntil: sparing(record, now, limits, fleet.lost, endedAt),
    endedAt,
  };
}

/**
 * Says how soon the caller may try. A failure is an attempt of unknown outcome, one that never reached the endpoint, or one whose process is gone. The five rules are those
 * of docs/when-a-request-is-repeated.md:
 *
 * 1. Back-off. After failures in a row an audience waits 1, 2, 4 … seconds, and 15 minutes at most. The fleet waits in the same way, 5 minutes at most, after
 *    requests of unknown outcome in a row, of whatever audience. Then one request is sent at a time. At any time, requests for at most an eighth of the usable
 *    tokens, and at most 256, are under way.
 * 2. Sparing. Once an eighth of the usable tokens is lost, requests for audiences that failed are so far apart that about half is left. Others may ask while less
 *    than half is lost. Three quarters never are.
 * 3. Later. An answer that says so holds for the whole fleet, for as long as it says, or a refusal that says no time for 15 minutes.
 * 4. Refusals. A refused request is repeated after 5, 10, then 15 minutes. Other credentials are tried at once. If the client was refused, all audiences wait.
 * 5. 401s. Renewals after them are 1, 2, 4 … 60 minutes apart for each audience, but the first one comes at once.
 *
 * One more hold is about one token: the endpoint returns the same one until it expires.
 *
 * An order to try again ends all of them. What fails again goes on with the pause that it had.
 */
export function pace(
  record: LedgerRecord,
  now: number,
  caller: Caller,
  reason: IssuanceReason,
  limits: Limits,
  glance: Glance = glanceAt(record, now, limits),
): Pace {
  const { fleet, endedAt } = glance;
  const { lost, open } = fleet;
  const own = fleet.failures.get(caller.audience);
  const refusals = glance.refusals.filter((refused) => concerns(refused, caller));
  const holds = [
    ...failureHolds(caller.audience, own, glance),
    ...endedBy(endedAt, toldHolds(fleet)),
    ...endedBy(endedAt, refusals.map(refusalHold)),
    ...(reason === 'refresh' ? renewalHolds(record, caller) : []),
    ...(reason === 'rejected' ? rejections(record, now, caller.audience, limits, endedAt) : []),
  ];
  // After refusals of the client, the first request has to show that it is accepted again. Some providers lock a client after a few failed logins.
  const isRefused = refusals.some(({ outcome }) => outcome.holdUntil + hour > now && isAboutClient(outcome));
  const isAlone = own !== undefined || lost.count > 0 || isRefused;
  const eighth = Math.max(1, Math.floor(glance.leastUsable / 8));
  const waits = open.length >= (isAlone ? 1 : Math.min(mostOpen, eighth));
  return {
    holds,
    waitsUntil: waits ? Math.min(...open.map(({ until }) => until)) : 0,
    carried: { streak: own?.count ?? 0, fleetStreak: lost.count },
  };
}

/** Rules 1 and 2 of {@link pace}. */
function failureHolds(audience: string, own: Streak | undefined, glance: Glance): Hold[] {
  const { fleet, leastUsable, endedAt, sparedUntil } = glance;
  const { lost } = fleet;
  const hold = (streak: Streak, failures: number, mostMs: number, of?: string): Hold => {
    const { count, last, lastAttempt: attempt } = streak;
    const pausedUntil = count > 0 ? last + Math.min(mostMs, pauseAfter(count, leastUsable)) : 0;
    const goesOn = isAfter(lastOf(streak), endedAt);
    const until = Math.max(goesOn ? pausedUntil : Math.min(pausedUntil, endedAt.at), sparedUntil(failures));
    return { kind: attempt?.outcome ? 'backoff' : 'deaths', until: Math.ceil(until), count, audience: of, attempt };
  };
  const forAll = hold(lost, 0, 5 * minute);
  return [
    ...(forAll.count > 0 || forAll.until > 0 ? [forAll] : []),
    ...(own ? [hold(own, own.count, 15 * minute, audience)] : []),
  ];
}
