import { nextBackoff } from './backoff.ts';
import { type Limits, leavesAt, type TermLimits } from './limits.ts';
import type { Backoff, IssuanceReason, LedgerRecord } from './record.ts';
import { isRetryOpen } from './retry.ts';
import { type EnforcedTerm, enforcedTerms } from './terms.ts';

const minute = 60_000;

/** The answer of one term to a token for one reason. */
export interface TermRoom extends EnforcedTerm {
  /** The tokens that count in this term. Those of unknown outcome are included. */
  readonly used: number;
  /** The tokens whose outcome is unknown. */
  readonly pending: number;
  /** So many tokens may be issued now for this reason. */
  readonly room: number;
  /** The instant from which at least one token may be issued for this reason, `now` at the earliest. */
  readonly roomAt: number;
  /** Tokens that the record does not know may count, which leaves less room than the term: until this instant only so many may be issued. */
  readonly newRecord?: { readonly allowed: number; readonly remaining: number; readonly endsAt: number } | undefined;
}

/** Some tokens that leave a term at one moment. */
interface Part {
  readonly at: number;
  readonly pending: boolean;
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
      pending: countOf(parts.filter((part) => part.pending)),
      room: Math.min(termRoom, remaining),
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
export function tightest(rooms: readonly TermRoom[]): TermRoom | undefined {
  return [...rooms].sort((a, b) => b.roomAt - a.roomAt || a.room - b.room)[0];
}

/** Returns the instant at which the next token leaves a term. Undefined: none counts in it. */
export function nextFreeAt(record: LedgerRecord, now: number, term: TermLimits): number | undefined {
  const parts = partsOf(record, now, term);
  return parts.length > 0 ? Math.min(...parts.map((part) => part.leavesAt)) : undefined;
}

/**
 * Returns the instant from which a 401 of the API may cause a renewal for an audience. Each window has a share for such renewals. If others spent it, an
 * audience that has had less than its part of it may take what renewals ahead of expiry may take.
 */
export function rejectedRoomAt(record: LedgerRecord, now: number, limits: Limits, audience: string): number {
  const renewals = record.entries.filter(({ reason }) => reason === 'rejected');
  if (renewals.length === 0) return now;
  const roomAts = enforcedTerms(record, now, limits).map(({ term, enforcedUntil }) => {
    const counted = renewals.filter((entry) => leavesAt(entry, term) > now);
    // A renewal of unknown outcome counts for longer, so a later one may leave the window before it.
    const parts = partsOf({ ...record, entries: counted, condensed: [], spentElsewhere: undefined }, now, term);
    const sharedAt = Math.min(enforcedUntil, freeAt(parts, now, term, term.rejectedShare));
    const ofAudience = counted.filter((entry) => entry.audience === audience);
    const audiences = new Set(counted.map((entry) => entry.audience)).add(audience);
    const hadItsPart = ofAudience.length >= Math.max(1, Math.floor(term.rejectedShare / audiences.size));
    if (sharedAt <= now || hadItsPart) return sharedAt;
    return Math.min(sharedAt, freeAt(partsOf(record, now, term), now, term, term.ceilings.refresh));
  });
  const spacedUntil = isRetryOpen(record, now) ? 0 : (rejectionsOf(record, audience)?.retryAt ?? 0);
  return Math.max(now, spacedUntil, ...roomAts);
}

/** Returns the renewals in a row that 401s caused for an audience, and when the next one may follow: they are 1, 2, 4 … 60 minutes apart. */
export function rejectionsOf({ entries }: LedgerRecord, audience: string): Backoff | undefined {
  let spacing: Backoff | undefined;
  for (const { at, ...entry } of entries) {
    if (entry.reason !== 'rejected' || entry.audience !== audience) continue;
    // If nobody needed such a renewal for an hour after it was allowed, the spacing starts again.
    const before = spacing && at <= spacing.retryAt + 60 * minute ? spacing : undefined;
    spacing = nextBackoff(before, at, minute, 60 * minute);
  }
  return spacing;
}

/**
 * Returns the least back-off after an outcome that may have issued a token. An outage of any length leaves half of the budget unspent. With `factor` 2
 * it is twice as long, but never longer than the budget has to be spared.
 */
export function sparingMs(record: LedgerRecord, now: number, limits: Limits, factor = 1): number {
  const pauses = enforcedTerms(record, now, limits).map(({ term, enforcedUntil }) => {
    const unknown = partsOf(record, now, term).filter((part) => part.pending);
    // A quarter is spent freely. The next quarter is spread until enough entries of the first one stop counting.
    const sparedUntil = (budget: number) => freeAt(unknown, now, term, Math.max(2, budget / 4));
    const pauseMs = (budget: number, until: number) =>
      Math.min((factor * 4 * term.pendingMs) / budget, until - now, enforcedUntil - now);
    const matureUntil = sparedUntil(term.usable);
    if (!mayMissTokens(record, now, term)) return pauseMs(term.usable, matureUntil);
    // While earlier entries are unknown, less may be gained than is usable. An outage must not take all of that.
    const newUntil = Math.max(matureUntil, record.completeSince + term.pendingMs);
    return pauseMs(term.newRecordCeiling, Math.min(sparedUntil(term.newRecordCeiling), newUntil));
  });
  return Math.max(0, ...pauses);
}

/** Returns whether tokens that the record does not know may still count in a term. */
function mayMissTokens(record: LedgerRecord, now: number, term: TermLimits): boolean {
  return now < record.completeSince + term.pendingMs;
}

/** Returns what counts in a term. */
function partsOf(record: LedgerRecord, now: number, term: TermLimits): Part[] {
  const parts: Part[] = [];
  const add = (at: number, pending: boolean, count: number) => {
    const end = leavesAt({ at, pending }, term);
    if (end > now) parts.push({ at, pending, count, leavesAt: end });
  };
  for (const { at, pending } of record.entries) add(at, pending, 1);
  for (const { at, pending, count } of record.condensed) add(at, pending, count);
  const { at, count } = record.spentElsewhere ?? { at: 0, count: 0 };
  if (count > 0) add(at, false, count);
  return parts;
}

function countOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.count, 0);
}

/** Returns the instant from which fewer than `ceiling` tokens count, `now` at the earliest. */
function freeAt(parts: readonly Part[], now: number, term: TermLimits, ceiling: number): number {
  let used = countOf(parts);
  if (used < ceiling) return now;
  for (const part of [...parts].sort((a, b) => a.leavesAt - b.leavesAt)) {
    used -= part.count;
    if (used < ceiling) return part.leavesAt;
  }
  // A ceiling of 0 never has room. Ask again when the window has passed.
  return now + term.settledMs;
}
