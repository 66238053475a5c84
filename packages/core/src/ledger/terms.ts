import type { DeclaredTerm, LedgerRecord, Term } from './journal.ts';
import { type Limits, type TermLimits, termLimits } from './limits.ts';

const minute = 60_000;
const hour = 60 * minute;

/** A record has at most this many terms. */
export const maxTerms = 16;

/** A term that has not been declared for so long is not enforced, unless it is one of this process. */
const enforcedMs = hour;

/** A process that only reads declares its terms again after this time. */
const declaredAgainMs = 20 * minute;

/** A term that this process enforces. `own`: it follows from the options of this process. */
export interface EnforcedTerm {
  readonly term: TermLimits;
  readonly own: boolean;
  /** The instant from which it is not enforced any more, unless another process declares it again. Infinity: it stays. */
  readonly enforcedUntil: number;
}

/** Returns whether the record must know refused requests and probes. */
export function countsRequests(terms: readonly Term[]): boolean {
  return terms.some(({ counts }) => counts === 'requests');
}

function isSame(one: Term, other: Term): boolean {
  const isSameWindow = one.tokens === other.tokens && one.windowMs === other.windowMs;
  return isSameWindow && one.reserve === other.reserve && one.counts === other.counts;
}

function isIn(terms: readonly Term[], term: Term): boolean {
  return terms.some((other) => isSame(other, term));
}

/** Returns the terms of this process. A process that inherits the agreement states none, and has the usual terms as long as nobody has stated any. */
function ownTerms(record: LedgerRecord, { terms, usual = [] }: Limits): readonly Term[] {
  return terms.length + record.terms.length > 0 ? terms : usual;
}

function lastDeclaredAt(terms: readonly DeclaredTerm[]): number {
  return Math.max(...terms.map(({ seenAt }) => seenAt));
}

/** Returns the terms that other processes declared within the hour before `at`, and this process does not have. */
export function foreignTerms(record: LedgerRecord, at: number, limits: Limits): DeclaredTerm[] {
  return record.terms.filter((term) => term.seenAt + enforcedMs > at && !isIn(limits.terms, term));
}

/**
 * Returns the terms that a process must keep: its own, and those that other processes declared within an hour. Its own terms come first. A process
 * that inherits the agreement gets the terms that were declared last, however long ago that was.
 */
export function enforcedTerms(record: LedgerRecord, now: number, limits: Limits): EnforcedTerm[] {
  const inherits = limits.terms.length === 0;
  const others = foreignTerms(record, inherits ? lastDeclaredAt(record.terms) : now, limits);
  const never = Number.POSITIVE_INFINITY;
  const enforced = (term: Term, own: boolean, enforcedUntil: number): EnforcedTerm => {
    return { term: termLimits(term, limits.durability), own, enforcedUntil };
  };
  return [
    ...ownTerms(record, limits).map((term) => enforced(term, true, never)),
    ...others.map((term) => enforced(term, false, inherits ? never : term.seenAt + enforcedMs)),
  ];
}

/** Returns all terms for which the record must keep entries: those of the record, and those of this process. */
export function keptTerms(record: LedgerRecord, limits: Limits): TermLimits[] {
  const own = ownTerms(record, limits);
  const others = record.terms.filter((term) => !isIn(own, term));
  return [...own, ...others].map((term) => termLimits(term, limits.durability));
}

/** Returns whether this process should write its terms: the record has none of them, or they are so old that others may soon stop enforcing them. */
export function isDeclarationDue(record: LedgerRecord, now: number, limits: Limits): boolean {
  const recent = record.terms.filter(({ seenAt }) => seenAt + declaredAgainMs > now);
  return limits.terms.some((term) => !isIn(recent, term));
}

/** Returns the record with the terms of this process, declared now. `by`: the name of the process. */
export function declare(record: LedgerRecord, now: number, limits: Limits, by: string): LedgerRecord {
  const declared = limits.terms.map((term): DeclaredTerm => {
    return { ...record.terms.find((known) => isSame(known, term)), ...term, seenAt: now, by };
  });
  return withTerms(record, now, unitedTerms(declared, record.terms));
}

/**
 * Returns the record with these terms. A record that counted tokens only has dropped its refused requests. So when a term counts requests for the first time,
 * the record is not complete.
 */
export function withTerms(record: LedgerRecord, now: number, terms: readonly DeclaredTerm[]): LedgerRecord {
  const isUsed = record.terms.length + record.attempts.length > 0;
  const isFirst = isUsed && countsRequests(terms) && !countsRequests(record.terms);
  return { ...record, terms, completeSince: isFirst ? Math.max(record.completeSince, now) : record.completeSince };
}

/** Unites two lists of terms. Of a term in both lists the later declaration counts. If there are too many, those go that no process has stated for longest. */
export function unitedTerms(one: readonly DeclaredTerm[], other: readonly DeclaredTerm[]): DeclaredTerm[] {
  const all = [...one, ...other].sort((a, b) => b.seenAt - a.seenAt);
  return all.filter((term, index) => !isIn(all.slice(0, index), term)).slice(0, maxTerms);
}

/** Returns the terms without those that others replaced so long ago that all they counted has left them. What was agreed last stays. */
export function currentTerms({ terms }: LedgerRecord, { durability }: Limits): DeclaredTerm[] {
  const latest = lastDeclaredAt(terms);
  const lastsMs = (term: Term) => Math.max(enforcedMs, termLimits(term, durability).pendingMs);
  return terms.filter((term) => term.seenAt + lastsMs(term) > latest);
}
