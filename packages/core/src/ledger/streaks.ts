import { chargeOf, isCertain, isIssued, isOpen } from './attempt.ts';
import type { Attempt, LedgerRecord } from './journal.ts';

const day = 86_400_000;

/** Failures without a token between them. */
export interface Streak {
  /** Failures in a row. Requests that were under way at the same time count once. */
  count: number;
  /** All failures since the last token of the audience, however long ago. */
  sinceToken: number;
  /** The pause counts from then: the last of them was known. Where a process died, the others have waited since it began. */
  last: number;
  lastAttempt: Attempt | undefined;
  /** One of them may have cost a token. */
  costly: boolean;
  /** The endpoint answered a probe, and the request after it failed. */
  inVain: boolean;
}

/** What the attempts of a fleet say about the next one. */
export interface Fleet {
  readonly streaks: ReadonlyMap<string, Streak>;
  /** The streak of all audiences together, and the audiences in it. */
  readonly all: Streak;
  readonly failing: ReadonlySet<string>;
  /** When the last token of an audience arrived. */
  readonly issuedAt: ReadonlyMap<string, Mark>;
  /** The last failure of anybody that may have cost a token was known then. */
  readonly lastCostAt: number;
  /** The last failure of anybody was known then. */
  readonly lastFailedAt: number;
  readonly open: readonly Attempt[];
  /** The attempt whose answer was the longest wait. */
  readonly told: Attempt | undefined;
  /** The last probe that was issued a token, although it has no credentials: the endpoint works. */
  readonly openedAt: number;
}

/** A moment of a record. Its clock may show one instant twice. */
export interface Mark {
  readonly at: number;
  readonly generation: number;
}

export function isAfter(one: Mark, other: Mark): boolean {
  return one.at > other.at || (one.at === other.at && one.generation > other.generation);
}

/** Returns whether an attempt is a failure. A process that did not report an outcome in time is gone. */
export function isFailure(attempt: Attempt, now: number): boolean {
  const { outcome, until } = attempt;
  if (!outcome) return until <= now;
  const isOther = outcome.kind === 'issued' || outcome.kind === 'refused' || outcome.kind === 'unsent';
  return outcome.kind === 'unreached' || (!isOther && outcome.charge > 0);
}

/** Returns when the others knew of a failure. */
export function knownAt({ outcome, until }: Attempt): number {
  return Math.min(outcome?.at ?? until, until || Number.POSITIVE_INFINITY);
}

/** Adds up the attempts of a record. One pass, from which every question about the next attempt is answered. */
export function fleetOf({ attempts }: LedgerRecord, now: number): Fleet {
  const issuedAt = new Map<string, Mark>();
  const open: Attempt[] = [];
  const latest = (one: Mark, other: Mark) => (isAfter(one, other) ? one : other);
  let [lastIssued, lastReserved, pardoned, openedAt] = [never, never, never, -1];
  for (const attempt of attempts) {
    const { audience, generation, order } = attempt;
    if (isIssued(attempt)) {
      const arrived = { at: attempt.outcome.at, generation };
      issuedAt.set(audience, latest(arrived, issuedAt.get(audience) ?? never));
      lastIssued = latest(arrived, lastIssued);
      lastReserved = latest(attempt, lastReserved);
      // What an order to try again brought ends everything that was known before.
      if (order !== undefined) pardoned = latest(arrived, pardoned);
    } else if (isOpen(attempt, now)) open.push(attempt);
    else if (isCertain(attempt) && chargeOf(attempt) > 0) openedAt = Math.max(openedAt, attempt.outcome.at);
  }
  const streaks = new Map<string, Streak>();
  const failing = new Set<string>();
  const all = newStreak();
  let [lastCostAt, lastFailedAt] = [0, 0];
  let told: Attempt | undefined;
  for (const attempt of attempts) {
    const { audience, generation, outcome } = attempt;
    const known = { at: knownAt(attempt), generation };
    const isNewer = isAfter(known, lastReserved) && isAfter(known, pardoned);
    if (outcome?.toldUntil && isNewer && outcome.toldUntil > (told?.outcome?.toldUntil ?? 0)) told = attempt;
    if (!isFailure(attempt, now)) continue;
    if (chargeOf(attempt) > 0) lastCostAt = Math.max(lastCostAt, known.at);
    lastFailedAt = Math.max(lastFailedAt, known.at);
    if (!isAfter(known, pardoned) || known.at <= now - 2 * day) continue;
    if (isAfter(known, issuedAt.get(audience) ?? never)) {
      const streak = streaks.get(audience) ?? newStreak();
      streaks.set(audience, streak);
      add(streak, attempt, attempt.streak, attempt.inVain);
    }
    if (isAfter(known, lastIssued)) {
      failing.add(audience);
      add(all, attempt, attempt.fleetStreak, attempt.fleetInVain);
    }
  }
  return { streaks, all, failing, issuedAt, lastCostAt, lastFailedAt, open, told, openedAt };
}

const never: Mark = { at: -1, generation: -1 };

function newStreak(): Streak {
  return { count: 0, sinceToken: 0, last: 0, lastAttempt: undefined, costly: false, inVain: false };
}

/** Adds a failure to those of earlier generations. It carries their number, as it was known at its reservation. */
function add(streak: Streak, attempt: Attempt, before: number, wasInVain = false): void {
  const isCostly = chargeOf(attempt) > 0;
  streak.count = before + 1;
  streak.sinceToken = attempt.sinceToken + 1;
  streak.costly ||= isCostly;
  streak.last = Math.max(streak.last, attempt.outcome ? knownAt(attempt) : attempt.at);
  streak.lastAttempt = attempt;
  streak.inVain = wasInVain || (attempt.probed === true && isCostly);
}
