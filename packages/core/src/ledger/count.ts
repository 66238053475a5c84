import { agreedTerms, type EnforcedTerm, type Situation, type TermLimits, termsAt } from './limits.ts';
import { type IssuanceReason, type LedgerRecord, type Spent, settledAt, type Term } from './record.ts';
import { minute } from './units.ts';

/** The room of one term for a token that is requested for one reason. */
export interface TermRoom extends EnforcedTerm {
  /** The tokens, or requests, that count in this term. Those of unknown outcome are included. */
  readonly used: number;
  /** Those of them whose outcome is unknown. */
  readonly unknown: number;
  /** The number of tokens that may be issued now for this reason. */
  readonly room: number;
  /** The instant from which one more token may be issued for this reason. 0: at once. */
  readonly roomAt: number;
  /** When the next token leaves the term. Undefined: none counts in it. */
  readonly nextFreeAt: number | undefined;
  /**
   * The record may not know all tokens of the window. Until `endsAt` it allows only `allowed`
   * tokens, `remaining` of which are left. Undefined: the term alone decides.
   */
  readonly newRecord?: { readonly allowed: number; readonly remaining: number; readonly endsAt: number } | undefined;
}

/** At most `ceiling` of these tokens may count, until the rule ends. */
interface Rule {
  readonly spent: readonly Spent[];
  readonly ceiling: number;
  readonly endsAt: number;
}

/** Returns how much a request, or a sum of them, costs in a term. */
export function costOf({ tokens = 1, refusedAt }: Spent, { counts }: Pick<Term, 'counts'>): number {
  return refusedAt !== undefined && counts !== 'requests' ? 0 : tokens;
}

/**
 * A request counts from this time after its reservation at the latest, even if the store gets its
 * outcome later. It is the largest difference between `pendingMs` and `settledMs`.
 */
const latestMs = 110 * minute;

/**
 * Returns the instant from which a request counts. Its token was issued between its reservation and
 * its outcome.
 */
export function countsFrom(one: Spent): number {
  return Math.min(settledAt(one) ?? one.at, one.at + latestMs);
}

/**
 * Returns when a request leaves a term. A settled request never counts for longer than a request of
 * unknown outcome.
 */
export function leavesAt(one: Spent, { settledMs, pendingMs }: Pick<TermLimits, 'settledMs' | 'pendingMs'>): number {
  const unknownUntil = one.at + pendingMs;
  return settledAt(one) === undefined ? unknownUntil : Math.min(countsFrom(one) + settledMs, unknownUntil);
}

/** Returns the number of tokens, or requests, that count in a term at an instant. */
export function countOf(spent: readonly Spent[], term: TermLimits, at: number): number {
  let count = 0;
  for (const one of spent) if (leavesAt(one, term) > at) count += costOf(one, term);
  return count;
}

/**
 * Returns the instant from which fewer than `ceiling` of these count in a term. 0: at any time. It
 * depends on the record alone.
 */
export function freeAt(spent: readonly Spent[], term: TermLimits, ceiling: number): number {
  let count = 0;
  const leaving = spent.map((one) => ({ at: leavesAt(one, term), cost: costOf(one, term) }));
  for (const { at, cost } of leaving.sort((a, b) => b.at - a.at)) {
    count += cost;
    if (count >= ceiling) return at;
  }
  return 0;
}

function rulesOf(
  { spent, completeSince }: LedgerRecord,
  { term, enforcedUntil }: EnforcedTerm,
  reason: IssuanceReason,
): { readonly usual: Rule; readonly newRecord: Rule } {
  return {
    usual: { spent, ceiling: term.ceilings[reason], endsAt: enforcedUntil },
    newRecord: {
      spent: spent.filter((one) => countsFrom(one) >= completeSince),
      ceiling: newRecordAllowance(term, reason),
      endsAt: Math.min(enforcedUntil, completeSince + term.pendingMs),
    },
  };
}

/**
 * Returns how many tokens a term allows while the record may not know all. Two of them are kept for
 * resets.
 */
function newRecordAllowance({ newRecordCeiling, usable }: TermLimits, reason: IssuanceReason): number {
  const isSpared = reason !== 'reset' && newRecordCeiling < usable;
  return isSpared ? newRecordCeiling - Math.min(2, Math.floor(newRecordCeiling / 6)) : newRecordCeiling;
}

function ruleEndsAt({ spent, ceiling, endsAt }: Rule, term: TermLimits): number {
  return Math.min(endsAt, freeAt(spent, term, ceiling));
}

/**
 * Returns the instant from which a term has room for one more token. It depends on the record
 * alone.
 */
export function roomAt(record: LedgerRecord, enforced: EnforcedTerm, reason: IssuanceReason): number {
  const { usual, newRecord } = rulesOf(record, enforced, reason);
  return Math.max(ruleEndsAt(usual, enforced.term), ruleEndsAt(newRecord, enforced.term));
}

/**
 * Returns the instant from which a 401 of the API may cause a renewal: each term has a share for
 * such renewals.
 */
export function rejectedShareAt({ spent }: LedgerRecord, { term, enforcedUntil }: EnforcedTerm): number {
  const renewals = spent.filter(({ reason }) => reason === 'rejected');
  return Math.min(enforcedUntil, freeAt(renewals, term, term.rejectedShare));
}

/** Describes the room of a term at an instant, for people. */
export function roomIn({ record, now }: Situation, enforced: EnforcedTerm, reason: IssuanceReason): TermRoom {
  const { term } = enforced;
  const { usual, newRecord } = rulesOf(record, enforced, reason);
  const left = ({ spent, ceiling }: Rule) => Math.max(0, ceiling - countOf(spent, term, now));
  const isNew = newRecord.endsAt > now && newRecord.ceiling < term.usable;
  const usualRoom = left(usual);
  const remaining = isNew ? left(newRecord) : usualRoom;
  const isLess = remaining < usualRoom || ruleEndsAt(newRecord, term) > Math.max(now, ruleEndsAt(usual, term));
  const unknown = record.spent.filter((one) => settledAt(one) === undefined);
  const leaving = record.spent.filter((one) => costOf(one, term) > 0).map((one) => leavesAt(one, term));
  return {
    ...enforced,
    newRecord: isNew && isLess ? { allowed: newRecord.ceiling, remaining, endsAt: newRecord.endsAt } : undefined,
    used: countOf(record.spent, term, now),
    unknown: countOf(unknown, term, now),
    room: Math.min(usualRoom, remaining),
    nextFreeAt: leaving.some((at) => at > now) ? Math.min(...leaving.filter((at) => at > now)) : undefined,
    roomAt: Math.max(now, roomAt(record, enforced, reason)),
  };
}

/** Describes the room of each term, as it was agreed. The terms of this process come first. */
export function roomsIn(situation: Situation, reason: IssuanceReason): TermRoom[] {
  return termsAt(agreedTerms(situation), situation.now).map((agreed) => roomIn(situation, agreed, reason));
}

/**
 * Returns the term whose room comes last. If all of them have room, returns the one with the least
 * room.
 */
export function tightest(rooms: readonly TermRoom[]): TermRoom {
  return [...rooms].sort((a, b) => b.roomAt - a.roomAt || a.room - b.room)[0] as TermRoom;
}
