import { type SetBack, withClockSetBack } from './clock-set-back.ts';
import { isRemembered, revoke } from './generations.ts';
import { type Limits, leavesAt } from './limits.ts';
import {
  type AudienceState,
  audienceStateOf,
  type Condensed,
  type LedgerEntry,
  type LedgerRecord,
  maxDetailedEntries,
  newRecord,
  withAudienceState,
} from './record.ts';

const minute = 60_000;

/** The record as this process saw it last. */
export interface Seen {
  readonly record: LedgerRecord;
  /** The store's time then. */
  readonly now: number;
  /** The ledger's time then, at most. */
  readonly ledgerNow: number;
  /** How long ago that was, at least: a clock that stands still while the machine sleeps makes entries younger, never older. */
  readonly elapsedMs: number;
  /** How long ago that was, at most: by whichever clock of this machine says longer. */
  readonly maxElapsedMs: number;
}

/** A record that can be decided on, and what had to be done to it. */
export interface Reconciled {
  readonly record: LedgerRecord;
  /** The ledger's time: the store's. For up to a minute by which the store's clock went back, the ledger's time stands still. */
  readonly now: number;
  /** The store lost the record that this process knew, or went back to an older one. */
  readonly lost: boolean;
  /** Entries put back from memory. */
  readonly restored: number;
  /** By how much the store's clock was set back, at least, if that was too far to be waited for. */
  readonly clockBackMs: number;
  /** Something was put right that the fleet should know: to be written before the record is used. */
  readonly changed: boolean;
}

/** Makes the loaded record fit what this process knows, and drops what no longer counts. `epoch`: used if the record begins anew. */
export function reconcile(
  loaded: LedgerRecord | undefined,
  seen: Seen | undefined,
  now: number,
  epoch: string,
  limits: Limits,
): Reconciled {
  const lost = seen !== undefined && (loaded?.epoch !== seen.record.epoch || loaded.sequence < seen.record.sequence);
  const back = loaded && setBackSince(loaded, seen, now);
  const present = loaded && back ? withClockSetBack(loaded, back) : loaded;
  const merged = lost
    ? merge(present, seen, now, epoch)
    : { record: present ?? newRecord(epoch, now), restored: 0, changed: false };
  const clockBackMs = back ? Math.floor(back.minOldNow - now) : 0;
  // A clock that was so far ahead may have made every entry leave: nobody knows what was issued.
  const record = clockBackMs > limits.pendingMs ? { ...merged.record, epoch, bornAt: now } : merged.record;
  const ledgerNow = Math.max(record.highWaterAt, now);
  return {
    record: compact({ ...record, highWaterAt: ledgerNow }, ledgerNow, limits),
    now: ledgerNow,
    lost,
    restored: merged.restored,
    clockBackMs,
    changed: merged.changed || clockBackMs > 0,
  };
}

/** Whether the store's clock is behind what this record has seen of it. Up to a minute is in the margin of a token, and is waited for. */
function setBackSince(record: LedgerRecord, seen: Seen | undefined, now: number): SetBack | undefined {
  const known = seen?.record.epoch === record.epoch ? seen : undefined;
  const isSame = known?.record.sequence === record.sequence;
  const minOldNow = Math.max(record.highWaterAt, known && isSame ? known.now + known.elapsedMs : 0);
  // Whoever wrote the record after this process saw it wrote it later than that.
  const maxOldNow = known
    ? Math.max(record.highWaterAt, known.ledgerNow) + known.maxElapsedMs
    : Number.POSITIVE_INFINITY;
  return minOldNow - now > minute ? { minOldNow, maxOldNow, now } : undefined;
}

function merge(loaded: LedgerRecord | undefined, seen: Seen, now: number, epoch: string) {
  const older = seen.record;
  const back = setBackSince(older, seen, now);
  const memory = back ? withClockSetBack(older, back) : older;
  const base = loaded ?? newRecord(epoch, now);
  // An older state of the very record this process knew: what came after it is lost for everybody, so the record begins anew.
  const regressed = loaded?.epoch === older.epoch;
  const gainedMs = now - seen.now - seen.elapsedMs;
  // Up to ten minutes that a clock lost it may gain again: they stay in its tolerance.
  const shiftMs = Math.max(gainedMs, Math.min(0, gainedMs + 10 * minute));
  const shifted = <Part extends { at: number }>(part: Part) => ({
    ...part,
    at: Math.max(0, Math.ceil(part.at + shiftMs)),
  });
  const present = new Set(base.entries.map((entry) => entry.id));
  const entries = older.entries.filter((entry) => !present.has(entry.id)).map(shifted);
  // Which entries were added up is forgotten: rather twice than not at all.
  const condensed = regressed || !loaded ? older.condensed.map(shifted) : [];
  const { audiences } = memory.audiences.reduce(withMemory, base);
  const record: LedgerRecord = {
    ...base,
    epoch: regressed ? epoch : base.epoch,
    bornAt: regressed ? now : base.bornAt,
    sequence: Math.max(base.sequence, older.sequence),
    entries: [...base.entries, ...entries].sort((a, b) => a.at - b.at),
    condensed: [...base.condensed, ...condensed],
    audiences,
    failures: base.failures ?? memory.failures,
    rateLimit: base.rateLimit ?? memory.rateLimit,
    rejections: base.rejections.count > 0 ? base.rejections : memory.rejections,
    deaths: base.deaths.count > 0 ? base.deaths : memory.deaths,
  };
  const restored = entries.length + condensed.reduce((sum, bucket) => sum + bucket.count, 0);
  // A sequence that only this process knew is written as well, or the record would look like an older one again.
  const changed = restored > 0 || audiences !== base.audiences || record.sequence > base.sequence;
  return { record, restored, changed };
}

/** The record with what memory knows of a slot: the token of the later generation, and whatever was reset. */
function withMemory(record: LedgerRecord, memory: AudienceState): LedgerRecord {
  const { audience, keyId } = memory;
  const state = audienceStateOf(record, audience, keyId);
  const revoked = Math.max(state.revoked, memory.revoked);
  const token = (memory.token?.generation ?? 0) > (state.token?.generation ?? revoked) ? memory.token : state.token;
  if (token === state.token && revoked === state.revoked) return record;
  return revoke(withAudienceState(record, { ...state, token }), audience, keyId, revoked);
}

/** Drops what no longer counts and adds up all but the newest entries. */
export function compact(record: LedgerRecord, now: number, limits: Limits): LedgerRecord {
  const live = (part: LedgerEntry | Condensed) => leavesAt(part, limits) > now;
  const entries = record.entries.filter(live);
  const surplus = entries.splice(0, entries.length - maxDetailedEntries);
  const added = surplus.map((entry) => ({ at: entry.at, pending: entry.pending, count: 1 }));
  const audiences = new Set(entries.map((entry) => entry.audience));
  const needed = (state: AudienceState) =>
    audiences.has(state.audience) ||
    isRemembered(state.revoked, now) ||
    (state.token?.expiresAt ?? 0) > now ||
    (state.lease?.until ?? 0) > now ||
    // As long as the longest pause: a count that is forgotten when its pause ends never grows.
    (state.credentialsBackoff?.retryAt ?? 0) + 60 * minute > now;
  return {
    ...record,
    entries,
    condensed: addUp([...record.condensed.filter(live), ...added], limits.windowMs / 96),
    audiences: record.audiences.filter(needed),
  };
}

/** One bucket for each kind and span of time. */
function addUp(parts: readonly Condensed[], spanMs: number): Condensed[] {
  const buckets = new Map<string, Condensed>();
  for (const part of parts) {
    const key = `${part.pending} ${Math.floor(part.at / spanMs)}`;
    const bucket = buckets.get(key);
    buckets.set(key, {
      at: Math.max(part.at, bucket?.at ?? 0),
      pending: part.pending,
      count: part.count + (bucket?.count ?? 0),
    });
  }
  return [...buckets.values()];
}
