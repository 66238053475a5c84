import { costOf, countsFrom } from './count.ts';
import type { Limits } from './limits.ts';
import { hasEnded } from './pauses.ts';
import {
  isOneRequest,
  isOpen,
  isRemembered,
  type LedgerRecord,
  type LogEntry,
  none,
  type Refusals,
  type Spent,
  type TokenState,
} from './record.ts';
import { currentTerms, keptTerms } from './terms.ts';
import { day, minute } from './units.ts';

/** So many of the newest requests stay as they are. Once there are 50 more, the older ones are summed up. */
const mostRows = 150;
const someMore = 50;
/** What has left all windows is kept for this long, so that a longer window can begin at once. */
const leastKeptMs = 8 * day;
/** So many notes of each kind are kept. */
const maxNotes = 20;

/** Drops what no longer counts, and sums up older requests. Nothing that is counted or paced changes. `now` is the record's time. */
export function compact(record: LedgerRecord, now: number, limits: Limits): LedgerRecord {
  const current = { ...record, limits: currentTerms(record, limits) };
  const terms = keptTerms(current, limits);
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
 * Sums up older requests: by hundredths of the longest window, a quarter of an hour at least, and by
 * days what has left all windows. A request that is under way stays, and so do all later ones. A sum never
 * changes again, so that two copies of a record can be united.
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

/** Returns a sum with one more request, which is the newest one. It counts for as long as the one that counts for longest. */
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

/** What paces is forgotten two days after the last failure. A reset is remembered for as long as a token may live. */
function keptStates({ states }: LedgerRecord, now: number): LedgerRecord['states'] {
  const kept: Record<string, TokenState> = Object.create(null);
  for (const [name, state] of Object.entries(states)) {
    const next = keptState(state, now);
    if (Object.values(next).some((part) => part !== undefined)) kept[name] = next;
  }
  return kept;
}

function keptState({ failures, refusals, rejections, resetUpTo, resetHash }: TokenState, now: number): TokenState {
  const row = <Row extends { readonly count: number; readonly at: number }>(one: Row | undefined) =>
    one && !hasEnded(one, now) ? one : undefined;
  const reset = resetUpTo !== undefined && isRemembered(resetUpTo, now) ? { resetUpTo, resetHash } : {};
  return { failures: row(failures), refusals: keptRefusals(refusals, now), rejections: row(rejections), ...reset };
}

function keptRefusals(refusals: Refusals | undefined, now: number): Refusals | undefined {
  const live = Object.entries(refusals ?? {}).filter(([, refusal]) => !hasEnded(refusal, now));
  return live.length > 0 ? Object.fromEntries(live) : undefined;
}

function keptLog(log: readonly LogEntry[]): readonly LogEntry[] {
  const isKept = ({ kind }: LogEntry, index: number) =>
    log.slice(index + 1).filter((later) => later.kind === kind).length < maxNotes;
  return log.filter(isKept);
}
