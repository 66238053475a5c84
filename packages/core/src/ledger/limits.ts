import type { IssuanceReason, LedgerRecord, StatedTerm, Term } from './record.ts';
import { hour, minute, second } from './units.ts';

/** The failure that an acknowledged `swap` of a store survives. See `Store.durability`. */
export type StoreDurability = 'process' | 'durable' | 'replicated';

interface Insurance {
  /** The reserve as a share of the tokens, if nobody states one. */
  readonly share: number;
  /**
   * The number of losses of the record that the reserve covers. Infinity: the record ends with its
   * process, which nobody else shares, so a new one may spend all usable tokens.
   */
  readonly losses: number;
}

const insurances: Readonly<Record<StoreDurability, Insurance>> = {
  process: { share: 1 / 5, losses: Number.POSITIVE_INFINITY },
  durable: { share: 1 / 5, losses: 1 },
  replicated: { share: 1 / 2, losses: 3 },
};

export const durabilities: readonly string[] = Object.keys(insurances);

/**
 * A store of another author may state a durability that does not exist. Its client is refused, but
 * its limits are computed first.
 */
function insuranceOf(durability: StoreDurability): Insurance {
  return insurances[durability] ?? insurances.durable;
}

/** The agreement as the options of this process state it. */
export interface Limits {
  /**
   * The terms that this process states. A process that inherits the agreement, and a reader of
   * usage, state none.
   */
  readonly terms: readonly Term[];
  /**
   * The terms that a process which inherits the agreement keeps to while the record has none.
   * Default: none.
   */
  readonly usual?: readonly Term[];
  readonly durability: StoreDurability;
  /** The largest record that the store keeps, in bytes. Default {@link usualMaxBytes}. */
  readonly maxBytes?: number | undefined;
}

/** What decisions rest on. */
export interface Situation {
  readonly record: LedgerRecord;
  /** The record's time. */
  readonly now: number;
  readonly limits: Limits;
}

/** A situation without its time. What follows from it is the same at any time. */
export type Timeless = Omit<Situation, 'now'>;

/** The most tokens that a record can count. No fleet spends that many. */
export const unlimitedTokens = 1_000_000;

/** The largest record of a store that states no bound, in bytes. */
export const usualMaxBytes = 1_000_000;

/** The numbers that follow from a term. */
export interface TermLimits extends Term {
  /** The tokens less the reserve. */
  readonly usable: number;
  /**
   * A settled request counts for this time: 25 hours and 10 minutes if the window is a day, because
   * a calendar day can have 25 hours.
   */
  readonly settledMs: number;
  /**
   * A pending request counts for this time. It is longer than `settledMs`, because the request may
   * have arrived late.
   */
  readonly pendingMs: number;
  /** The most tokens that may be issued while the record does not know all earlier ones. */
  readonly newRecordCeiling: number;
  /** A token for this reason may be issued while fewer tokens than this are spent. */
  readonly ceilings: Readonly<Record<IssuanceReason, number>>;
  /** The most tokens of a window that may be renewals after 401s of the API. */
  readonly rejectedShare: number;
}

/**
 * Computes the terms of an agreement. `reserve` belongs to the window with the most tokens, and the
 * others keep the same share of theirs. Undefined takes the default of the store's durability.
 * `enforce`: false if nothing is refused for the agreement.
 */
export function limitsFor(
  windows: readonly Pick<Term, 'tokens' | 'windowMs' | 'counts'>[],
  reserve: number | undefined,
  durability: StoreDurability,
  enforce?: boolean,
): Limits {
  const largest = Math.max(...windows.map(({ tokens }) => tokens));
  const share = reserve === undefined ? insuranceOf(durability).share : reserve / largest;
  const terms = windows.map(({ tokens, windowMs, counts }): Term => {
    // The reserve of the largest window must not change by the rounding of its share.
    const kept = tokens === largest && reserve !== undefined ? reserve : Math.ceil(tokens * share);
    return {
      tokens,
      windowMs,
      reserve: Math.min(tokens - 1, kept),
      ...(counts && { counts }),
      ...(enforce === false && { enforce }),
    };
  });
  return { terms, durability };
}

/** Computes the numbers of one term. */
export function termLimits(
  { tokens, windowMs, reserve, counts, enforce }: Term,
  durability: StoreDurability,
): TermLimits {
  const usable = tokens - reserve;
  const spanMs = windowMs + Math.min(hour, windowMs / 24);
  const { losses } = insuranceOf(durability);
  // Without a single token nothing works.
  const reservePerLoss = Math.max(1, Math.floor(reserve / losses));
  const withoutReset = usable - Math.min(10, Math.floor(usable / 12));
  return {
    tokens,
    windowMs,
    reserve,
    counts,
    enforce,
    usable,
    // The clocks of some stores show whole seconds, and a busy server may show the last one a
    // little longer.
    settledMs: Math.ceil(spanMs + Math.min(10 * minute, Math.max(2 * second, windowMs / 144))),
    // A request may take five minutes, whatever the window is.
    pendingMs: Math.ceil(spanMs + Math.min(2 * hour, Math.max(7 * minute, windowMs / 12))),
    newRecordCeiling: !Number.isFinite(losses) || reserve === 0 ? usable : Math.min(usable, reservePerLoss),
    ceilings: {
      refresh: Math.max(1, Math.floor(usable * 0.7)),
      cold: withoutReset,
      expired: withoutReset,
      rejected: withoutReset,
      reset: usable,
    },
    rejectedShare: Math.max(1, Math.floor(usable / 3)),
  };
}

/** A record has at most this many terms. */
export const maxTerms = 16;

/** A term of another process is enforced for this time after it was last stated. */
const enforcedMs = hour;

/** A process states its own terms again when the last statement of them is this old. */
const statedAgainMs = 20 * minute;

/**
 * A term that this process keeps, or at least counts. `own`: it follows from the options of this
 * process.
 */
export interface EnforcedTerm {
  readonly term: TermLimits;
  readonly own: boolean;
  /**
   * The term is not enforced from this instant on, unless another process states it again.
   * Infinity: it is always enforced.
   */
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

/**
 * A process that inherits the agreement states none, and has the usual terms as long as nobody has
 * stated any.
 */
function ownTerms({ record, limits: { terms, usual = [] } }: Timeless): readonly Term[] {
  return terms.length + record.limits.length > 0 ? terms : usual;
}

function lastStatedAt(terms: readonly StatedTerm[]): number {
  return Math.max(...terms.map(({ seenAt }) => seenAt));
}

/**
 * Returns the terms that other processes stated within the hour before `at`, and this process does
 * not have.
 */
export function foreignTerms({ record, limits }: Timeless, at: number): StatedTerm[] {
  return record.limits.filter((term) => term.seenAt + enforcedMs > at && !isIn(limits.terms, term));
}

/** A process whose own agreement is not enforced keeps to no other one either. */
function isEnforced(term: Term, { terms }: Limits): boolean {
  return term.enforce !== false && terms.every(({ enforce }) => enforce !== false);
}

/**
 * Returns the terms that a process must keep. A term that is not enforced has room for every token
 * that a fleet spends.
 */
export function enforcedTerms(situation: Timeless): EnforcedTerm[] {
  const { limits } = situation;
  return agreedTerms(situation).map((agreed) => {
    if (isEnforced(agreed.term, limits)) return agreed;
    return { ...agreed, term: termLimits({ ...agreed.term, tokens: unlimitedTokens, reserve: 0 }, limits.durability) };
  });
}

/** Returns the terms that a process counts without refusing requests for them. */
export function observedTerms(situation: Timeless): EnforcedTerm[] {
  return agreedTerms(situation).filter(({ term }) => !isEnforced(term, situation.limits));
}

/**
 * Returns the terms that a process counts: its own, and each term of another process until an hour
 * after it was stated last. Its own terms come first. A process that inherits the agreement gets
 * the terms that were stated last, however long ago that was. It depends on the record alone.
 */
export function agreedTerms(situation: Timeless): EnforcedTerm[] {
  const { record, limits } = situation;
  const inherits = limits.terms.length === 0;
  const others = foreignTerms(situation, inherits ? lastStatedAt(record.limits) : Number.NEGATIVE_INFINITY);
  const never = Number.POSITIVE_INFINITY;
  const enforced = (term: Term, own: boolean, enforcedUntil: number): EnforcedTerm => {
    return { term: termLimits(term, limits.durability), own, enforcedUntil };
  };
  return [
    ...ownTerms(situation).map((term) => enforced(term, true, never)),
    ...others.map((term) => enforced(term, false, inherits ? never : term.seenAt + enforcedMs)),
  ];
}

/** Returns the terms that have not ended at an instant. */
export function termsAt(terms: readonly EnforcedTerm[], now: number): EnforcedTerm[] {
  return terms.filter(({ enforcedUntil }) => enforcedUntil > now);
}

/**
 * Returns all terms for which the record must keep what was spent: those of the record, and those
 * of this process.
 */
export function keptTerms(situation: Timeless): TermLimits[] {
  const own = ownTerms(situation);
  const others = situation.record.limits.filter((term) => !isIn(own, term));
  return [...own, ...others].map((term) => termLimits(term, situation.limits.durability));
}

/**
 * Returns whether this process should state its terms: the record has none of them, or they were
 * stated too long ago.
 */
export function isStatementDue({ record, now, limits }: Situation): boolean {
  const recent = record.limits.filter(({ seenAt }) => seenAt + statedAgainMs > now);
  return limits.terms.some((term) => !isIn(recent, term));
}

/** Returns the record with the terms of this process, stated now. `by`: the name of the process. */
export function withStatement({ record, now, limits }: Situation, by: string): LedgerRecord {
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

/**
 * Unites two lists of terms. The later statement of a term counts. If there are too many, the terms
 * that were stated first are left out.
 */
export function unitedTerms(one: readonly StatedTerm[], other: readonly StatedTerm[]): StatedTerm[] {
  const all = [...one, ...other].sort((a, b) => b.seenAt - a.seenAt);
  return all.filter((term, index) => !isIn(all.slice(0, index), term)).slice(0, maxTerms);
}

/**
 * Returns the terms without those that were replaced so long ago that every token has left them.
 * The latest terms stay.
 */
export function currentTerms({ record, limits }: Timeless): StatedTerm[] {
  const latest = lastStatedAt(record.limits);
  const lastsMs = (term: Term) => Math.max(enforcedMs, termLimits(term, limits.durability).pendingMs);
  return record.limits.filter((term) => term.seenAt + lastsMs(term) > latest);
}
