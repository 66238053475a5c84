import { unitedTerms, withTerms } from './limits.ts';
import {
  isOneRequest,
  isUnknown,
  type LedgerRecord,
  newRecord,
  none,
  type Refusals,
  type Spent,
  type StoredToken,
  type TokenState,
  withNamed,
} from './record.ts';
import { lapsed } from './settle.ts';
import { minute } from './units.ts';

/** The store's clock may gain this much within a day. */
export const tolerableMs: number = 10 * minute;

/** The record as this process read or wrote it last. */
export interface Remembered {
  readonly id: string;
  readonly sequence: number;
  readonly movedMs: number;
  /**
   * The whole record. It is needed only if the store lost it, so it is decoded when this property
   * is read.
   */
  readonly record: LedgerRecord;
  /** The store's time at that moment. */
  readonly now: number;
  /** The least time since then. The monotonic clock may stand still during sleep. */
  readonly minElapsedMs: number;
  /** The most time since then, by either clock of this machine. */
  readonly maxElapsedMs: number;
}

/** A record as it is true now, and what was done to it. */
export interface Present {
  readonly record: LedgerRecord;
  /**
   * The record's time. It is the time of the store, but it never goes back: it stands still while
   * the store's clock is up to a minute behind.
   */
  readonly now: number;
  /** True if the store lost the record that this process knows, or went back to an older one. */
  readonly isRecordLost: boolean;
  /** The number of tokens that were put back from the memory of this process. */
  readonly restored: number;
  /** The least time by which the store's clock was set back. 0 if it was a minute or less. */
  readonly clockBackMs: number;
  /** True if it differs from the loaded record. Write it then before you decide by it. */
  readonly changed: boolean;
}

/**
 * Returns the record as it is true now. After that was written, another call changes nothing.
 *
 * - Lapsed: the outcome of a request that was under way for too long counts as unknown.
 * - Moved: the store's clock was set back, or leapt, so all instants of the record move with it.
 * - United: the store lost the record, or went back to an older one. The record that this process
 *   remembers is put back.
 * - Distrusted: the reserve insures tokens that nobody can vouch for, from now on.
 *
 * `id` is for a record that begins anew. `now` is the store's time.
 */
export function present(
  loaded: LedgerRecord | undefined,
  remembered: Remembered | undefined,
  now: number,
  id: string,
): Present {
  const isRecordLost =
    remembered !== undefined && (loaded?.id !== remembered.id || loaded.sequence < remembered.sequence);
  // Nobody has written the record since this process read it. The instants of an older record, too,
  // are of the clock that this process knows.
  const isSame = remembered !== undefined && loaded?.id === remembered.id && loaded.sequence <= remembered.sequence;
  const onClock = loaded && withClock(loaded, remembered, isSame, now);
  const found = onClock?.record ?? newRecord(id, now);
  const whole = isRecordLost ? restored(found, loaded !== undefined, remembered, isSame, now, id) : found;
  const time = Math.max(whole.latestAt, now);
  const gone = whole.spent.filter(({ until }) => until !== undefined && until <= time);
  const record = gone.reduce(lapsed, whole);
  const isChanged = record !== (loaded ?? found);
  return {
    record: { ...record, latestAt: time },
    now: time,
    isRecordLost,
    restored: Math.max(0, tokensIn(whole) - tokensIn(found)),
    clockBackMs: onClock?.backMs ?? 0,
    changed: isRecordLost ? !isAlike(record, loaded) : isChanged,
  };
}

/** Returns a loaded record by the clock that the store shows now. */
function withClock(
  loaded: LedgerRecord,
  remembered: Remembered | undefined,
  isSame: boolean,
  now: number,
): { readonly record: LedgerRecord; readonly backMs: number } {
  // Steps by which other processes moved the record since don't count again.
  const movedMs = remembered?.id === loaded.id ? loaded.movedMs - remembered.movedMs : Number.POSITIVE_INFINITY;
  const [min, max] = elapsedSince(remembered).map((at) => at + movedMs) as [number, number];
  const latest = Math.max(loaded.latestAt, isSame ? min : 0);
  const backMs = latest - now > minute ? latest - now : 0;
  const record = backMs > 0 ? setBack(loaded, backMs, isSame ? Math.max(max, latest) - now : undefined, now) : loaded;
  const leapMs = now - (max - backMs);
  // The clock was wrong when this process read the record, and another process has put the record
  // right: that is no leap.
  const certainMs = isSame ? leapMs : Math.min(leapMs, now - elapsedSince(remembered)[1]);
  if (certainMs <= tolerableMs) return { record, backMs };
  // If somebody wrote since the leap and did not move the instants, nobody knows which clock the
  // instants are of.
  const isOfBefore = record.latestAt <= max - backMs;
  const next = isOfBefore ? moved(record, now - min, certainMs, now) : { ...record, completeSince: now };
  return { record: { ...next, movedMs: Math.round(record.movedMs + leapMs) }, backMs };
}

/**
 * Returns the record after the clock was set back: by `backMs` at least, and by `mostBackMs` at
 * most if that was measured.
 */
function setBack(loaded: LedgerRecord, backMs: number, mostBackMs: number | undefined, now: number): LedgerRecord {
  const record = moved(loaded, pastAfter(-backMs), -(mostBackMs ?? backMs), now);
  // Nobody knows how much life a token has left if the step was not measured.
  const ended = (token: StoredToken) => ({ ...token, expiresAt: Math.min(token.expiresAt, now) });
  const tokens = mostBackMs === undefined ? record.tokens.map(ended) : record.tokens;
  return { ...record, tokens, movedMs: Math.round(loaded.movedMs - backMs) };
}

/**
 * Returns how far past instants move after a step of the clock. After a step back they move ten
 * minutes less, because the clock may gain ten minutes later without being noticed. Otherwise a
 * clock that swings to and fro would age them with every swing.
 */
function pastAfter(stepMs: number): number {
  return stepMs < 0 ? Math.min(0, stepMs + tolerableMs) : stepMs;
}

/**
 * Returns the earliest and the latest instant that the store's clock can show now if it made no
 * step.
 */
function elapsedSince(remembered: Remembered | undefined): readonly [min: number, max: number] {
  return remembered
    ? [remembered.now + remembered.minElapsedMs, remembered.now + remembered.maxElapsedMs]
    : [0, Number.POSITIVE_INFINITY];
}

/** Returns the record united with the one that this process remembers. */
function restored(
  found: LedgerRecord,
  isLoaded: boolean,
  remembered: Remembered,
  isSame: boolean,
  now: number,
  id: string,
): LedgerRecord {
  const [min, max] = elapsedSince(remembered);
  const isStep = min - now > minute || now - max > tolerableMs;
  const memory = isStep ? moved(remembered.record, pastAfter(now - min), now - max, now) : remembered.record;
  const record = united(found, memory, now);
  // Whatever other processes wrote since is lost, and the reserve insures it. Because of the new
  // id, processes that read the record later unite it with their memory, too.
  const mayMiss = isLoaded && (isSame || found.completeSince <= now - remembered.maxElapsedMs);
  return mayMiss ? { ...record, id, completeSince: now } : record;
}

function isAlike(record: LedgerRecord, loaded: LedgerRecord | undefined): boolean {
  const text = (one: LedgerRecord) => JSON.stringify({ ...one, latestAt: 0 });
  return loaded !== undefined && text(record) === text(loaded);
}

function tokensIn({ spent }: LedgerRecord): number {
  return spent.reduce((sum, one) => sum + tokensOf(one), 0);
}

function tokensOf({ tokens = 1 }: Spent): number {
  return tokens;
}

const hasHappened: readonly string[] = ['at', 'issuedAt', 'refusedAt', 'completeSince', 'seenAt', 'askedAt', 'knownAt'];
const liesAhead: readonly string[] = ['until', 'expiresAt', 'expiredBy', 'renewAfter'];

/**
 * Moves past instants by `pastMs`, and those that lie ahead by `aheadMs`. No past instant moves
 * beyond `now`.
 */
function moved(record: LedgerRecord, pastMs: number, aheadMs: number, now: number): LedgerRecord {
  const instantOf = (name: string, at: number) => {
    if (hasHappened.includes(name)) return Math.max(0, Math.min(Math.ceil(at + pastMs), now));
    return liesAhead.includes(name) ? Math.max(0, Math.floor(at + aheadMs)) : at;
  };
  const move = <Part>(part: Part): Part => {
    if (part !== Object(part)) return part;
    if (Array.isArray(part)) return part.map(move) as Part;
    const next = Object.create(Object.getPrototypeOf(part));
    for (const [name, value] of Object.entries(part as object))
      next[name] = typeof value === 'number' ? instantOf(name, value) : move(value);
    return next;
  };
  return { ...move(record), latestAt: now };
}

/** Of two copies of one request, the more certain one stands. An issued token is most certain. */
const rankOf = (one: Spent) =>
  one.issuedAt !== undefined ? 3 : one.refusedAt !== undefined ? 2 : isUnknown(one) ? 1 : 0;

/**
 * Unites two records of one client. Of a part that both have, that of `one` stays, unless that of
 * `other` is later or more certain.
 */
export function united(one: LedgerRecord, other: LedgerRecord, now: number): LedgerRecord {
  const states: Record<string, TokenState> = Object.assign(Object.create(null), one.states);
  for (const [name, state] of Object.entries(other.states)) states[name] = unitedState(states[name] ?? {}, state);
  const later = (one.later?.until ?? 0) >= (other.later?.until ?? 0) ? one.later : other.later;
  const record = {
    ...one,
    form: Math.max(one.form, other.form),
    generation: Math.max(one.generation, other.generation),
    spent: unitedSpent(one.spent, other.spent),
    states,
    lost: newest(one.lost, other.lost),
    refusals: unitedRefusals(one.refusals, other.refusals),
    later,
    retries: newest(one.retries, other.retries),
    tokens: unitedBy(one.tokens, other.tokens, ({ name, keyId }) => JSON.stringify([name, keyId]), laterToken),
    log: unitedBy(one.log, other.log, ({ id }) => id, laterOf).sort((a, b) => a.at - b.at),
    quota: newest(one.quota, other.quota),
  };
  return withTerms(record, now, unitedTerms(one.limits, other.limits));
}

/** Unites two lists. `join` makes one part of two parts with the same name. */
function unitedBy<Part>(
  one: readonly Part[],
  other: readonly Part[],
  nameOf: (part: Part) => string,
  join: (one: Part, other: Part) => Part,
): Part[] {
  const parts = new Map(one.map((part) => [nameOf(part), part]));
  for (const part of other) {
    const known = parts.get(nameOf(part));
    parts.set(nameOf(part), known ? join(known, part) : part);
  }
  return [...parts.values()];
}

/**
 * The sums of a record have all of its older requests. So they take the place of those in the other
 * record.
 */
function unitedSpent(one: readonly Spent[], other: readonly Spent[]): Spent[] {
  const after = (spent: readonly Spent[], summedUpTo: number) => {
    return spent.filter((one) => !isOneRequest(one) || one.generation > summedUpTo);
  };
  const rows = unitedBy(after(one, summedUpTo(other)), after(other, summedUpTo(one)), ({ id }) => id, surer);
  return rows.sort((a, b) => a.generation - b.generation);
}

function summedUpTo(spent: readonly Spent[]): number {
  const sums = spent.filter((one) => !isOneRequest(one) && one.reason !== 'stated');
  return Math.max(0, ...sums.map(({ generation }) => generation));
}

function surer(one: Spent, other: Spent): Spent {
  // Of two statements the larger one counts, from the later instant on.
  if (one.reason === 'stated') return { ...laterOf(one, other), tokens: Math.max(tokensOf(one), tokensOf(other)) };
  const differs = rankOf(other) - rankOf(one) || tokensOf(other) - tokensOf(one);
  return differs > 0 ? other : one;
}

function laterToken(one: StoredToken, other: StoredToken): StoredToken {
  // Of two copies of one token, the life of one may have been measured.
  const differs = other.generation - one.generation || one.expiresAt - other.expiresAt;
  return differs > 0 ? other : one;
}

function newest<Part extends { readonly at: number }>(one: Part | undefined, other: Part | undefined) {
  return one && other ? laterOf(one, other) : (one ?? other);
}

function laterOf<Part extends { readonly at: number }>(one: Part, other: Part): Part {
  return other.at > one.at ? other : one;
}

function unitedRefusals(one: Refusals, other: Refusals = none): Refusals {
  const secrets = Object.entries(other);
  return secrets.reduce((all, [secret, refusal]) => withNamed(all, secret, newest(one[secret], refusal)), one);
}

/** The hash belongs to the later reset. */
function unitedState(one: TokenState, other: TokenState): TokenState {
  const { resetUpTo, resetHash } = (other.resetUpTo ?? 0) > (one.resetUpTo ?? 0) ? other : one;
  return {
    failures: newest(one.failures, other.failures),
    refusals: one.refusals ? unitedRefusals(one.refusals, other.refusals) : other.refusals,
    rejections: newest(one.rejections, other.rejections),
    resetUpTo,
    resetHash,
  };
}
