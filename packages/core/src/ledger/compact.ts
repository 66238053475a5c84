import { type Encoded, encodeRecord } from './codec.ts';
import { costOf, countsFrom } from './count.ts';
import { currentTerms, keptTerms, type Situation, usualMaxBytes } from './limits.ts';
import { hasEnded } from './pace.ts';
import {
  isOneRequest,
  isOpen,
  isRemembered,
  type LedgerRecord,
  type LogEntry,
  none,
  type Refusals,
  type Spent,
  type StoredToken,
  type Streak,
  type TokenState,
} from './record.ts';
import { day, hour, minute } from './units.ts';

/**
 * This many of the newest requests stay as they are. Once there are 50 more, the older ones are
 * summed up.
 */
const mostRows = 150;
const someMore = 50;
/**
 * Requests that have left all windows are kept for this time, so that a longer window can begin at
 * once.
 */
const leastKeptMs = 8 * day;
/** The most notes of each kind that are kept. */
const maxNotes = 20;

/**
 * Drops what no longer counts, and sums up older requests. Nothing that is counted or paced
 * changes.
 */
export function compact(situation: Situation): LedgerRecord {
  const { record, now, limits } = situation;
  const current = { ...record, limits: currentTerms(situation) };
  const terms = keptTerms({ record: current, limits });
  const longestMs = Math.max(0, ...terms.map(({ pendingMs }) => pendingMs));
  const keptFrom = now - Math.max(leastKeptMs, longestMs);
  // People want to know who stated that there were none, too.
  const counts = (one: Spent) => one.reason === 'stated' || terms.some((term) => costOf(one, term) > 0);
  const counted = current.spent.filter((one) => isOpen(one, now) || counts(one));
  const kept = counted.filter((one) => countsFrom(one) > keptFrom);
  const gone = counted.filter((one) => countsFrom(one) <= keptFrom);
  return {
    ...current,
    // A term that is longer than all others can't know what was dropped before it came.
    completeSince: Math.max(current.completeSince, ...gone.map((one) => countsFrom(one) + 1)),
    spent: summedUp(kept, now, longestMs),
    states: keptStates(current, now),
    lost: current.lost && hasEnded(current.lost, now) ? { ...current.lost, count: 0 } : current.lost,
    refusals: keptRefusals(current.refusals, now) ?? none,
    later: current.later && current.later.until > now ? current.later : undefined,
    tokens: current.tokens.filter(({ expiresAt }) => expiresAt + day > now),
    log: keptLog(current.log),
  };
}

/**
 * Sums up older requests: those in a window by hundredths of the longest window, a quarter of an
 * hour at least, and those that have left all windows by days. A request that is under way stays,
 * and so do all later ones. A sum never changes again, so that two copies of a record can be
 * united.
 */
function summedUp(spent: readonly Spent[], now: number, longestMs: number): readonly Spent[] {
  const rows = spent.filter(isOneRequest);
  const surplus = rows.length > mostRows + someMore ? rows.length - mostRows : 0;
  const isPast = ({ at }: Spent) => (Math.floor(at / day) + 1) * day + longestMs < now;
  const stays = rows.findIndex((one, index) => isOpen(one, now) || (index >= surplus && !isPast(one)));
  const older = stays < 0 ? rows : rows.slice(0, stays);
  if (older.length === 0) return spent;
  const slotMs = Math.max(15 * minute, longestMs / 100);
  const sums = new Map<string, Spent>();
  for (const one of older) {
    const { at, issuedAt, refusedAt, reason } = one;
    const slot = isPast(one) ? `day ${Math.floor(at / day)}` : Math.floor(at / slotMs);
    // Renewals after 401s have a share of each window.
    const name = `${slot} ${issuedAt !== undefined} ${refusedAt !== undefined} ${reason === 'rejected'}`;
    sums.set(name, sumOf(sums.get(name), one));
  }
  const summed = new Set(older);
  const left = [...spent.filter((one) => !summed.has(one)), ...sums.values()];
  return left.sort((a, b) => a.generation - b.generation);
}

/**
 * Returns a sum with one more request, which is the newest one. It counts for as long as the
 * request in it that counts for longest.
 */
function sumOf(sum: Spent | undefined, { id, generation, at, issuedAt, refusedAt, reason }: Spent): Spent {
  const latest = (one: number | undefined, other: number | undefined) => one && Math.max(one, other ?? 0);
  return {
    ...{ id, generation, name: '', keyId: '', instance: '', at: Math.max(at, sum?.at ?? 0) },
    reason: reason === 'rejected' ? reason : 'several',
    issuedAt: latest(issuedAt, sum?.issuedAt),
    refusedAt: latest(refusedAt, sum?.refusedAt),
    tokens: 1 + (sum?.tokens ?? 0),
  };
}

/**
 * Failures, refusals and 401s in a row are forgotten two days after the last one. A reset is
 * remembered for as long as a token may live.
 */
function keptStates({ states }: LedgerRecord, now: number): LedgerRecord['states'] {
  const kept: Record<string, TokenState> = Object.create(null);
  for (const [name, state] of Object.entries(states)) {
    const next = keptState(state, now);
    if (next) kept[name] = next;
  }
  return kept;
}

function keptState(state: TokenState, now: number): TokenState | undefined {
  const failures = keptStreak(state.failures, now);
  const refusals = keptRefusals(state.refusals, now);
  const rejections = keptStreak(state.rejections, now);
  const { resetUpTo, resetHash } = state;
  const isReset = resetUpTo !== undefined && isRemembered(resetUpTo, now);
  if (isReset) return { failures, refusals, rejections, resetUpTo, resetHash };
  return failures || refusals || rejections ? { failures, refusals, rejections } : undefined;
}

function keptStreak<Kept extends Streak>(streak: Kept | undefined, now: number): Kept | undefined {
  return streak && !hasEnded(streak, now) ? streak : undefined;
}

function keptRefusals(refusals: Refusals | undefined, now: number): Refusals | undefined {
  const all = Object.entries(refusals ?? {});
  const live = all.filter(([, refusal]) => !hasEnded(refusal, now));
  if (live.length === 0) return undefined;
  return live.length === all.length ? refusals : Object.fromEntries(live);
}

function keptLog(log: readonly LogEntry[]): readonly LogEntry[] {
  const isKept = ({ kind }: LogEntry, index: number) =>
    log.slice(index + 1).filter((later) => later.kind === kind).length < maxNotes;
  return log.filter(isKept);
}

// The tokens of one issuer differ little in size. The record keeps room for one as large as its
// largest, and at least this.
const leastTokenBytes = 2_000;

/**
 * Returns whether a record still fits into the store when each request that is under way brings a
 * token.
 */
export function hasRoom({ record: whole, now, limits: { maxBytes = usualMaxBytes } }: Situation): boolean {
  // Expired tokens give way when the record is written, so they need no room.
  const record = withoutExpiredTokens(whole, now);
  const open = record.spent.filter((one) => isOpen(one, now)).length;
  return bytesOfRecord(record) + open * tokenBytesOf(record) <= maxBytes;
}

/**
 * Returns the instant from which a full record may have room again: a token has expired, or a
 * request has ended.
 */
export function roomExpectedAt({ tokens, spent }: LedgerRecord, now: number): number {
  const ends = [...tokens.map(({ expiresAt }) => expiresAt), ...spent.map(({ until = 0 }) => until)];
  return Math.min(now + hour, Math.max(now + minute, Math.min(...ends.filter((at) => at > now))));
}

const steps = [withoutExpiredTokens, withoutLargestTokens];

/**
 * Encodes a record so that the store can keep it. If it is too large, the processes that have its
 * largest tokens keep them in their memories alone. Everything that counts stays.
 */
export function fitted({ record, now, limits: { maxBytes = usualMaxBytes } }: Situation): Encoded {
  let encoded = { record, text: encodeRecord(record) };
  for (const shed of steps) {
    const excess = bytesOf(encoded.text) - maxBytes;
    if (excess <= 0) break;
    const smaller = shed(encoded.record, now, excess);
    encoded = { record: smaller, text: encodeRecord(smaller) };
  }
  return encoded;
}

function withoutExpiredTokens(record: LedgerRecord, now: number): LedgerRecord {
  return { ...record, tokens: record.tokens.filter(({ expiresAt }) => expiresAt > now) };
}

function withoutLargestTokens(record: LedgerRecord, _now: number, excess: number): LedgerRecord {
  const dropped = new Set<StoredToken>();
  let freed = 0;
  for (const token of [...record.tokens].sort((a, b) => b.sealed.length - a.sealed.length)) {
    if (freed >= excess) break;
    freed += token.sealed.length;
    dropped.add(token);
  }
  return { ...record, tokens: record.tokens.filter((token) => !dropped.has(token)) };
}

function tokenBytesOf({ tokens }: LedgerRecord): number {
  return tokens.reduce((most, { sealed }) => Math.max(most, sealed.length), leastTokenBytes);
}

/**
 * The bytes of tokens and requests. They never change, and a record has most of them from the one
 * before, so a decision encodes only what is new.
 */
const bytesOfParts = new WeakMap<object, number>();
/** The form and the checksum take less. */
const headerBytes = 40;

/** Returns the bytes of a record in the store, or some more. */
function bytesOfRecord(record: LedgerRecord): number {
  const { tokens, spent } = record;
  const rest = bytesOf(JSON.stringify({ ...record, tokens: [], spent: [] }));
  return [...tokens, ...spent].reduce<number>((sum, part) => sum + bytesOfPart(part), headerBytes + rest);
}

/** Returns the bytes of a part and of its comma. */
function bytesOfPart(part: object): number {
  const known = bytesOfParts.get(part);
  const bytes = known ?? bytesOf(JSON.stringify(part)) + 1;
  if (known === undefined) bytesOfParts.set(part, bytes);
  return bytes;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
