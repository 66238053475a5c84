import { type Limits, type TermLimits, termLimits, unlimitedTokens } from './limits.ts';
import type { LedgerRecord, StatedTerm, Term } from './record.ts';
import { hour, minute } from './units.ts';

/** A record has at most this many terms. */
export const maxTerms = 16;

/** A term that has not been stated for so long is not enforced, unless it is one of this process. */
const enforcedMs = hour;

/** A process states its own terms again when the last statement of them is so old. */
const statedAgainMs = 20 * minute;

/** A term that this process keeps, or at least counts. `own`: it follows from the options of this process. */
export interface EnforcedTerm {
  readonly term: TermLimits;
  readonly own: boolean;
  /** It is not enforced from this instant on, unless another process states it again. Infinity: it stays. */
  readonly enforcedUntil: number;
}

/** Returns whether the record must know refused requests. */
function countsRequests(terms: readonly Term[]): boolean {
  return terms.some(({ counts }) => counts === 'requests');
}

const membersOfTerm = Object.keys({
  tokens: true,
  windowMs: true,
  reserve: true,
  counts: true,
  enforce: true,
} satisfies Record<keyof Term, true>) as (keyof Term)[];

function isIn(terms: readonly Term[], term: Term): boolean {
  return terms.some((one) => membersOfTerm.every((name) => one[name] === term[name]));
}

/** A process that inherits the agreement states none, and has the usual terms as long as nobody has stated any. */
function ownTerms(record: LedgerRecord, { terms, usual = [] }: Limits): readonly Term[] {
  return terms.length + record.limits.length > 0 ? terms : usual;
}

function lastStatedAt(terms: readonly StatedTerm[]): number {
  return Math.max(...terms.map(({ seenAt }) => seenAt));
}

/** Returns the terms that other processes stated within the hour before `at`, and this process does not have. */
export function foreignTerms(record: LedgerRecord, at: number, limits: Limits): StatedTerm[] {
  return record.limits.filter((term) => term.seenAt + enforcedMs > at && !isIn(limits.terms, term));
}

/** A process whose own agreement is not enforced keeps to no other one either. */
function isEnforced(term: Term, { terms }: Limits): boolean {
  return term.enforce !== false && terms.every(({ enforce }) => enforce !== false);
}

/** Returns the terms that a process must keep. One that is not enforced has room for whatever a fleet spends. */
export function enforcedTerms(record: LedgerRecord, limits: Limits): EnforcedTerm[] {
  return agreedTerms(record, limits).map((agreed) => {
    if (isEnforced(agreed.term, limits)) return agreed;
    return { ...agreed, term: termLimits({ ...agreed.term, tokens: unlimitedTokens, reserve: 0 }, limits.durability) };
  });
}

/** Returns the terms that a process counts, and refuses nothing for. */
export function observedTerms(record: LedgerRecord, limits: Limits): EnforcedTerm[] {
  return agreedTerms(record, limits).filter(({ term }) => !isEnforced(term, limits));
}

/**
 * Returns the terms that a process counts: its own, and each term of another process until an hour
 * after it was stated last. Its own terms come first. A process that inherits the agreement gets the
 * terms that were stated last, however long ago that was. It depends on the record alone.
 */
export function agreedTerms(record: LedgerRecord, limits: Limits): EnforcedTerm[] {
  const inherits = limits.terms.length === 0;
  const others = foreignTerms(record, inherits ? lastStatedAt(record.limits) : Number.NEGATIVE_INFINITY, limits);
  const never = Number.POSITIVE_INFINITY;
  const enforced = (term: Term, own: boolean, enforcedUntil: number): EnforcedTerm => {
    return { term: termLimits(term, limits.durability), own, enforcedUntil };
  };
  return [
    ...ownTerms(record, limits).map((term) => enforced(term, true, never)),
    ...others.map((term) => enforced(term, false, inherits ? never : term.seenAt + enforcedMs)),
  ];
}

/** Returns those of these terms that have not ended at an instant. */
export function termsAt(terms: readonly EnforcedTerm[], now: number): EnforcedTerm[] {
  return terms.filter(({ enforcedUntil }) => enforcedUntil > now);
}

/** Returns all terms for which the record must keep what was spent: those of the record, and those of this process. */
export function keptTerms(record: LedgerRecord, limits: Limits): TermLimits[] {
  const own = ownTerms(record, limits);
  const others = record.limits.filter((term) => !isIn(own, term));
  return [...own, ...others].map((term) => termLimits(term, limits.durability));
}

/** Returns whether this process should state its terms: the record has none of them, or they were stated too long ago. */
export function isStatementDue(record: LedgerRecord, now: number, limits: Limits): boolean {
  const recent = record.limits.filter(({ seenAt }) => seenAt + statedAgainMs > now);
  return limits.terms.some((term) => !isIn(recent, term));
}

/** Returns the record with the terms of this process, stated now. `by`: the name of the process. */
export function withStatement(record: LedgerRecord, now: number, limits: Limits, by: string): LedgerRecord {
  const stated = limits.terms.map((term): StatedTerm => ({ ...term, seenAt: now, by }));
  return withTerms(record, now, unitedTerms(stated, record.limits));
}

/**
 * Returns the record with these terms. A record that counted tokens alone has dropped its refused
 * requests. So when a term counts requests for the first time, the record is not complete.
 */
export function withTerms(record: LedgerRecord, now: number, limits: readonly StatedTerm[]): LedgerRecord {
  const isUsed = record.sequence > 0;
  const isFirst = isUsed && countsRequests(limits) && !countsRequests(record.limits);
  return { ...record, limits, completeSince: isFirst ? Math.max(record.completeSince, now) : record.completeSince };
}

/** Unites two lists of terms. The later statement of a term counts. If there are too many, those go that were stated first. */
export function unitedTerms(one: readonly StatedTerm[], other: readonly StatedTerm[]): StatedTerm[] {
  const all = [...one, ...other].sort((a, b) => b.seenAt - a.seenAt);
  return all.filter((term, index) => !isIn(all.slice(0, index), term)).slice(0, maxTerms);
}

/** Returns the terms without those that others replaced so long ago that all they counted has left them. What was agreed last stays. */
export function currentTerms({ limits }: LedgerRecord, { durability }: Limits): StatedTerm[] {
  const latest = lastStatedAt(limits);
  const lastsMs = (term: Term) => Math.max(enforcedMs, termLimits(term, durability).pendingMs);
  return limits.filter((term) => term.seenAt + lastsMs(term) > latest);
}
