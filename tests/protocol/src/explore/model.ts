import { decodeRecord, encodeRecord } from '../../../../packages/core/src/ledger/codec.ts';
import type { Attempt, LedgerRecord } from '../../../../packages/core/src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../../../packages/core/src/ledger/limits.ts';

/** At most so many tokens in a window of so many hours. */
export interface SearchedTerm {
  readonly tokens: number;
  readonly hours: number;
}

/** The scope of the search: every order of so many processes, faults and steps of time. */
export interface Scope {
  readonly processes: number;
  /** The agreement of each process. There is one for all, or one for each. */
  readonly agreements: readonly (readonly SearchedTerm[])[];
  readonly faults: number;
  /** The number of times that time may pass, by any of {@link steps}. */
  readonly steps: number;
  /** The number of tokens for which each process asks. */
  readonly rounds: number;
  /** Kinds of faults. */
  readonly kinds: readonly FaultKind[];
}

/** The possible faults, each at any moment. */
export type FaultKind = 'crash' | 'store' | 'reply' | 'release' | 'reset' | 'clock' | 'ahead' | 'wipe' | 'regress';

const minute = 60_000;
const hour = 60 * minute;

/** The steps in which time may pass: beyond a lease; nearly as long as a request may be under way; not quite a window; until what was settled has left. */
const stepsOfDays: readonly number[] = [61_000, 100 * minute, 24.5 * hour, 25 * hour + 10 * minute];
/** With a window of an hour: also until what was settled has left it. */
const stepsOfHours: readonly number[] = [61_000, 63 * minute, 24.5 * hour, 25 * hour + 10 * minute];

/** True if a window is shorter than a day. */
function hasHours({ agreements }: Scope): boolean {
  return agreements.some((terms) => terms.some(({ hours }) => hours < 24));
}

/** The steps in which time may pass. */
export function stepsOf(scope: Scope): readonly number[] {
  return hasHours(scope) ? stepsOfHours : stepsOfDays;
}

/** A request is issued so long after its reservation at most, or never. */
export function maxInTransitMs(scope: Scope): number {
  return hasHours(scope) ? 6 * minute : 110 * minute;
}

/** The agreement of a process. */
export function termsOf({ agreements }: Scope, index: number): readonly SearchedTerm[] {
  return agreements[index % agreements.length] ?? [];
}

/** All terms of a scope. The places in this list are their numbers. */
export function allTerms({ agreements }: Scope): readonly SearchedTerm[] {
  const all = agreements.flat();
  return all.filter((term, index) => all.findIndex((other) => isSameTerm(other, term)) === index);
}

export function isSameTerm(one: SearchedTerm, other: SearchedTerm): boolean {
  return one.tokens === other.tokens && one.hours === other.hours;
}

/** The time by which a store's clock is ahead before it is put right. A step of time that hides this hides all tokens, too. */
export const aheadMs: number = 9 * hour;
export const lifetimeMs: number = hour;

/** The longest window of this term that any calendar has. */
export function spanOf({ hours }: SearchedTerm): number {
  return hours < 24 ? hours * hour : hours * hour + hour;
}

export const leaseMs = 60_000;
export const sendWithinMs = 10_000;
export const trustedMs = 60_000;

/** Limits of so few tokens that everything can be tried: no reserve, and as many in a new record as in an old one. */
export function limitsOf(terms: readonly SearchedTerm[]): Limits {
  return limitsFor(
    terms.map(({ tokens, hours }) => ({ tokens, windowMs: hours * hour })),
    0,
    'durable',
  );
}

/** The current state of one process. */
type Doing =
  | 'nothing'
  | 'retrying'
  | 'repairing'
  | 'reserving'
  | 'withdrawing'
  | 'admitted'
  | 'waiting'
  | 'settling'
  | 'settling again'
  | 'declaring'
  | 'resetting';

export type OutcomeKind = 'issued' | 'ambiguous' | 'released' | 'unsent';

/** The record as a process knows it: as it was stored, and as the process understood it. */
export interface View {
  readonly stored: number;
  readonly record: number;
  /** The ledger's time, and the true time. */
  readonly now: number;
  readonly at: number;
  /** When it read the record, and declared its terms with that; 0 where all processes have the same. */
  readonly declaredAt: number;
}

/** A process: what it does, and what it remembers. Records are named by their number in {@link Records}; -1: none. */
export interface Process {
  readonly doing: Doing;
  readonly round: number;
  readonly attempt: number;
  readonly view: View;
  /** The record that it is about to write. */
  readonly next: number;
  /** Its reservation, as the record had it. */
  readonly reserved: Attempt | undefined;
  readonly sentAt: number;
  readonly outcome: OutcomeKind | '';
  readonly seen: { readonly record: number; readonly now: number; readonly ledgerNow: number; readonly at: number };
  /** The true expiry of its cached token. */
  readonly goodUntil: number;
  /** It took an expired token from the record. */
  readonly usedExpired?: boolean;
}

/** A token request under way. */
interface Underway {
  readonly process: number;
  readonly attempt: number;
  readonly reservedAt: number;
}

/** A write that the store has not executed yet although its caller has stopped waiting. */
interface LateWrite {
  readonly expected: number;
  readonly next: number;
  readonly process: number;
  readonly view: View;
}

/** A reservation in the record: where it stands in the order of all, and the numbers of the terms that bound its process. */
interface Reserved {
  readonly order: number;
  readonly terms: readonly number[];
}

/** A token of the service. */
export interface Issued extends Reserved {
  readonly at: number;
}

/** Everything that matters at one moment. */
export interface State {
  readonly time: number;
  readonly clockOffset: number;
  readonly stored: number;
  /** The records that were stored before, in no order of time. Empty unless the store may go back. */
  readonly older: readonly number[];
  readonly processes: readonly Process[];
  readonly underway: readonly Underway[];
  readonly lateWrites: readonly LateWrite[];
  readonly issued: readonly Issued[];
  /** The reservations that may still issue a token, by their id. */
  readonly reserved: Readonly<Record<string, Reserved>>;
  /** When each term was declared last. */
  readonly declared: readonly number[];
  /** Ids of issued tokens with their true expiry. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly faultsLeft: number;
  readonly stepsLeft: number;
  readonly losses: number;
}

const begun = 1_780_000_000_000;

const nobody: Process = {
  doing: 'nothing',
  round: 0,
  attempt: 0,
  view: { stored: -1, record: -1, now: 0, at: 0, declaredAt: 0 },
  next: -1,
  reserved: undefined,
  sentAt: 0,
  outcome: '',
  seen: { record: -1, now: 0, ledgerNow: 0, at: 0 },
  goodUntil: 0,
};

/** An empty store and processes that have not begun. */
export function beginning(scope: Scope): State {
  return {
    time: begun,
    // `ahead`: it can be put right.
    clockOffset: scope.kinds.includes('ahead') ? aheadMs : 0,
    stored: -1,
    older: [],
    processes: Array.from({ length: scope.processes }, () => nobody),
    underway: [],
    lateWrites: [],
    issued: [],
    reserved: {},
    declared: allTerms(scope).map(() => Number.NEGATIVE_INFINITY),
    tokens: {},
    faultsLeft: scope.faults,
    stepsLeft: scope.steps,
    losses: 0,
  };
}

/** A process that has forgotten all but how many tokens it was to ask for. */
export function restarted({ round, attempt }: Process): Process {
  return { ...nobody, round, attempt: attempt + 1 };
}

/** The state without what can no longer matter, so that more of them are the same. */
export function simplified(state: State, scope: Scope): State {
  const { kinds } = scope;
  const mayLose = state.losses === 0 && state.faultsLeft > 0 && (kinds.includes('wipe') || kinds.includes('regress'));
  const remembers = mayLose || state.losses > 0 || kinds.includes('ahead');
  const processes = state.processes.map((process): Process => {
    const seen = remembers ? process.seen : nobody.seen;
    const goodUntil = process.goodUntil > state.time ? process.goodUntil : 0;
    const { doing, round, attempt } = process;
    if (doing === 'nothing' || doing === 'retrying') return { ...nobody, doing, round, attempt, seen, goodUntil };
    return { ...process, seen, goodUntil };
  });
  const tokens = Object.fromEntries(Object.entries(state.tokens).filter(([, until]) => until > state.time));
  const lateWrites = state.lateWrites.filter(({ expected }) => expected === state.stored || mayLose);
  const older = mayLose ? [...new Set(state.older)].sort((one, other) => one - other) : [];
  const longestMs = Math.max(...allTerms(scope).map(spanOf));
  const issued = state.issued.filter(({ at }) => at > state.time - longestMs);
  // With one agreement, every reservation is bound by it: its order says nothing.
  const differs = scope.agreements.length > 1;
  const mayIssue = (id: string) =>
    state.underway.some(({ process, attempt }) => id === `${process}.${attempt}`) ||
    state.processes.some(({ attempt }, index) => id === `${index}.${attempt}`);
  const reserved = Object.fromEntries(Object.entries(state.reserved).filter(([id]) => differs && mayIssue(id)));
  const declared = state.declared.map((at) => (differs && at > state.time - hour ? at : Number.NEGATIVE_INFINITY));
  return { ...state, processes, tokens, lateWrites, older, issued, reserved, declared };
}

/** Every record that ever was, by number: written and read by the real codec. */
export interface Records {
  add(record: LedgerRecord): number;
  get(number: number): LedgerRecord | undefined;
  readonly size: number;
}

/** Creates an empty list. */
export function createRecords(): Records {
  const numbers = new Map<string, number>();
  const records: LedgerRecord[] = [];
  return {
    add(record) {
      const text = encodeRecord(record);
      const known = numbers.get(text);
      if (known !== undefined) return known;
      const decoded = decodeRecord(text);
      if (typeof decoded === 'string') throw new Error(`a record that cannot be read is written: ${decoded}`);
      numbers.set(text, records.length);
      records.push(decoded);
      return records.length - 1;
    },
    get: (number) => records[number],
    get size() {
      return records.length;
    },
  };
}
