import { chargeOf, isIssued, isOpen } from './attempt.ts';
import type { Attempt, LedgerRecord } from './journal.ts';

const day = 86_400_000;

/** Failures in a row: without a token between them, and two days old at most. Those that were under way at the same time count once. */
export interface Streak {
  count: number;
  /** The pause counts from then: the last of them was known. Where a process died, the others have waited since it began. */
  last: number;
  lastAttempt: Attempt | undefined;
}

/** What the attempts of a fleet say about the next one. */
export interface Fleet {
  /** The failures of each audience since its last token. */
  readonly failures: ReadonlyMap<string, Streak>;
  /** The requests of unknown outcome of all audiences. The count ends with anybody's token, but when the last one was known remains. */
  readonly lost: Streak;
  /** When the last token of an audience arrived. */
  readonly issuedAt: ReadonlyMap<string, Mark>;
  readonly open: readonly Attempt[];
  /** The attempt whose answer was the longest wait. */
  readonly told: Attempt | undefined;
}

/** A moment of a record. Its clock may show one instant twice. */
export interface Mark {
  readonly at: number;
  readonly generation: number;
}

export function isAfter(one: Mark, other: Mark): boolean {
  return one.at > other.at || (one.at === other.at && one.generation > other.generation);
}

/** Returns when a streak was known. */
export function lastOf({ last, lastAttempt }: Streak): Mark {
  return { at: last, generation: lastAttempt?.generation ?? 0 };
}

/** Returns whether an attempt is a failure. A process that did not report an outcome in time is gone. */
export function isFailure(attempt: Attempt, now: number): boolean {
  const { outcome, until } = attempt;
  if (!outcome) return until <= now;
  const isOther = outcome.kind === 'issued' || outcome.kind === 'refused' || outcome.kind === 'unsent';
  return outcome.kind === 'unreached' || (!isOther && outcome.charge > 0);
}

/** Returns whether an attempt may have cost a token, and nobody knows. */
export function isLost(attempt: Attempt, now: number): boolean {
  return isFailure(attempt, now) && chargeOf(attempt) > 0;
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
  let [lastIssued, lastReserved] = [never, never];
  for (const attempt of attempts) {
    const { audience, generation } = attempt;
    if (isIssued(attempt)) {
      const arrived = { at: attempt.outcome.at, generation };
      issuedAt.set(audience, latest(arrived, issuedAt.get(audience) ?? never));
      lastIssued = latest(arrived, lastIssued);
      lastReserved = latest(attempt, lastReserved);
    } else if (isOpen(attempt, now)) open.push(attempt);
  }
  const failures = new Map<string, Streak>();
  const lost: Streak = { count: 0, last: 0, lastAttempt: undefined };
  let told: Attempt | undefined;
  for (const attempt of attempts) {
    const { audience, generation, outcome } = attempt;
    const known = { at: knownAt(attempt), generation };
    if (outcome?.toldUntil && isAfter(known, lastReserved) && outcome.toldUntil > (told?.outcome?.toldUntil ?? 0))
      told = attempt;
    if (!isFailure(attempt, now)) continue;
    const isRecent = known.at > now - 2 * day;
    if (isRecent && isAfter(known, issuedAt.get(audience) ?? never)) {
      const streak = failures.get(audience) ?? { count: 0, last: 0, lastAttempt: undefined };
      failures.set(audience, streak);
      add(streak, attempt);
      streak.count = attempt.streak + 1;
    }
    if (!isLost(attempt, now)) continue;
    add(lost, attempt);
    lost.count = isRecent && isAfter(known, lastIssued) ? attempt.fleetStreak + 1 : 0;
  }
  return { failures, lost, issuedAt, open, told };
}

const never: Mark = { at: -1, generation: -1 };

/** Adds a failure to those of earlier generations. It carries their number, as it was known at its reservation. */
function add(streak: Streak, attempt: Attempt): void {
  streak.last = Math.max(streak.last, attempt.outcome ? knownAt(attempt) : attempt.at);
  streak.lastAttempt = attempt;
}
