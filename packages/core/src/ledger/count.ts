import { costOf, isCertain, isFolded } from './attempt.ts';
import type { Attempt, IssuanceReason, LedgerRecord, Order } from './journal.ts';
import type { Limits, TermLimits } from './limits.ts';
import { type EnforcedTerm, enforcedTerms } from './terms.ts';

/** The answer of one term to a token for one reason. */
export interface TermRoom extends EnforcedTerm {
  /** The tokens, or requests, that count in this term. Those of unknown outcome are included. */
  readonly used: number;
  /** The tokens whose outcome is unknown. */
  readonly unknown: number;
  /** So many tokens may be issued now for this reason. */
  readonly room: number;
  /** The instant from which at least one token may be issued for this reason, `now` at the earliest. */
  readonly roomAt: number;
  /** When the next token leaves the term. Undefined: none counts in it. */
  readonly nextFreeAt: number | undefined;
  /** Tokens that the record does not know may count, which leaves less room than the term: until this instant only so many may be issued. */
  readonly newRecord?: { readonly allowed: number; readonly remaining: number; readonly endsAt: number } | undefined;
}

/** Some tokens that leave a term at one moment. */
export interface Part {
  readonly at: number;
  readonly unknown: boolean;
  readonly count: number;
  readonly leavesAt: number;
}

/** At most `ceiling` of these tokens may count, until the rule ends. */
interface Rule {
  readonly parts: readonly Part[];
  readonly ceiling: number;
  readonly endsAt: number;
}

/**
 * Says for each enforced term whether a token may be issued for this reason. All of them must have room. The terms of this process come first.
 * `now` is the ledger's time.
 */
export function admission(record: LedgerRecord, now: number, limits: Limits, reason: IssuanceReason): TermRoom[] {
  return enforcedTerms(record, now, limits).map((enforced) => {
    const { term, enforcedUntil } = enforced;
    const parts = partsOf(record, now, term);
    const termRule: Rule = { parts, ceiling: term.ceilings[reason], endsAt: enforcedUntil };
    const newRecordRule: Rule | undefined = mayMissTokens(record, now, term)
      ? {
          parts: parts.filter(({ at }) => at >= record.completeSince),
          ceiling: newRecordAllowance(term, reason),
          endsAt: Math.min(enforcedUntil, record.completeSince + term.pendingMs),
        }
      : undefined;
    const roomAtOf = (rule: Rule) => Math.min(rule.endsAt, freeAt(rule.parts, now, term, rule.ceiling));
    const roomOf = (rule: Rule) => Math.max(0, rule.ceiling - countOf(rule.parts));
    const termRoomAt = roomAtOf(termRule);
    const newRecordRoomAt = newRecordRule ? roomAtOf(newRecordRule) : termRoomAt;
    const termRoom = roomOf(termRule);
    const remaining = newRecordRule ? roomOf(newRecordRule) : termRoom;
    const isLess = remaining < termRoom || newRecordRoomAt > termRoomAt;
    return {
      ...enforced,
      newRecord:
        newRecordRule && isLess
          ? { allowed: newRecordRule.ceiling, remaining, endsAt: newRecordRule.endsAt }
          : undefined,
      used: countOf(parts),
      unknown: countOf(parts.filter((part) => part.unknown)),
      room: Math.min(termRoom, remaining),
      nextFreeAt: parts.length > 0 ? Math.min(...parts.map((part) => part.leavesAt)) : undefined,
      roomAt: Math.max(termRoomAt, newRecordRoomAt),
    };
  });
}

/** Returns how many tokens a term allows while the record may miss some. Two of them are kept for resets. */
function newRecordAllowance({ newRecordCeiling, usable }: TermLimits, reason: IssuanceReason): number {
  const isSpared = reason !== 'reset' && newRecordCeiling < usable;
  return isSpared ? newRecordCeiling - Math.min(2, Math.floor(newRecordCeiling / 6)) : newRecordCeiling;
}

/** Returns the term whose room comes last. If all of them have room, returns the one with the least room. */
export function tightest(rooms: readonly TermRoom[]): TermRoom {
  return [...rooms].sort((a, b) => b.roomAt - a.roomAt || a.room - b.room)[0] as TermRoom;
}

/** Returns the instant from which a 401 of the API may cause a renewal: each window has a share for such renewals. */
export function rejectedShareAt(record: LedgerRecord, now: number, limits: Limits): number {
  const renewals = record.attempts.filter((attempt) => attempt.reason === 'rejected');
  const roomAts = enforcedTerms(record, now, limits).map(({ term, enforcedUntil }) => {
    // A renewal of unknown outcome counts for longer, so a later one may leave the window before it.
    const parts = renewals.map((attempt) => partOf(attempt, term)).filter(({ leavesAt }) => leavesAt > now);
    return Math.min(enforcedUntil, freeAt(parts, now, term, term.rejectedShare));
  });
  return Math.max(now, ...roomAts);
}

/** Returns whether tokens that the record does not know may still count in a term. */
export function mayMissTokens(record: LedgerRecord, now: number, term: TermLimits): boolean {
  return now < record.completeSince + term.pendingMs;
}

/** Returns what counts in a term. */
export function partsOf(record: LedgerRecord, now: number, term: TermLimits): Part[] {
  const parts: Part[] = [];
  const add = (part: Part) => {
    if (part.count > 0 && part.leavesAt > now) parts.push(part);
  };
  for (const attempt of record.attempts) if (!isFolded(record, attempt)) add(partOf(attempt, term));
  for (const { last, unknown, count: tokens, refused = 0 } of record.buckets) {
    const count = term.counts === 'requests' ? tokens + refused : tokens;
    add({ at: last, unknown, count, leavesAt: last + (unknown ? term.pendingMs : term.settledMs) });
  }
  // Of several statements the largest counts. When it leaves, the largest of the later ones remains.
  let stated = 0;
  for (const { at, tokens = 0 } of record.orders.filter(({ kind }) => kind === 'spent').reverse()) {
    add({ at, unknown: false, count: tokens - stated, leavesAt: at + term.settledMs });
    stated = Math.max(stated, tokens);
  }
  return parts;
}

function partOf(attempt: Attempt, term: TermLimits): Part {
  return {
    at: countsFrom(attempt),
    unknown: !isCertain(attempt),
    count: costOf(attempt, term),
    leavesAt: leavesAt(attempt, term),
  };
}

/** An outcome that the store hears of late: the largest difference between how long a token of unknown outcome counts, and one that arrived. */
const latestMs = 110 * 60_000;

/** Returns the instant from which an attempt counts. A token was issued between its reservation and its outcome. */
export function countsFrom(attempt: Attempt): number {
  return isCertain(attempt) ? Math.min(attempt.outcome.at, attempt.at + latestMs) : attempt.at;
}

/** Returns the instant at which an attempt leaves a term. One that was issued never counts for longer than one of unknown outcome. */
export function leavesAt(attempt: Attempt, { settledMs, pendingMs }: TermLimits): number {
  const unknownUntil = attempt.at + pendingMs;
  return isCertain(attempt) ? Math.min(countsFrom(attempt) + settledMs, unknownUntil) : unknownUntil;
}

/** Returns what somebody said about tokens that the record has not seen: of several numbers that still count, the largest, from the latest instant on. */
export function spentElsewhere({ orders }: LedgerRecord, after: number): Order | undefined {
  const said = orders.filter(({ kind, at }) => kind === 'spent' && at > after);
  const [largest] = [...said].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
  return largest && { ...largest, at: Math.max(...said.map(({ at }) => at)) };
}

export function countOf(parts: readonly Part[]): number {
  let count = 0;
  for (const part of parts) count += part.count;
  return count;
}

/** Returns the instant from which fewer than `ceiling` tokens count, `now` at the earliest. */
export function freeAt(parts: readonly Part[], now: number, term: TermLimits, ceiling: number): number {
  let used = countOf(parts);
  if (used < ceiling) return now;
  for (const part of [...parts].sort((a, b) => a.leavesAt - b.leavesAt)) {
    used -= part.count;
    if (used < ceiling) return part.leavesAt;
  }
  // A ceiling of 0 never has room. Ask again when the window has passed.
  return now + term.settledMs;
}
