import { type ClockStep, withClockSetBack, withClockStep, withMeasuredTokens } from './clock-set-back.ts';
import { compact } from './condense.ts';
import { revoke, unitedFingerprints } from './generations.ts';
import type { Limits } from './limits.ts';
import {
  type AudienceState,
  audienceStateOf,
  type Condensed,
  type LedgerRecord,
  newRecord,
  type SpentElsewhere,
  withAudienceState,
} from './record.ts';
import { unitedResets } from './resets.ts';
import { unitedTerms } from './terms.ts';

const minute = 60_000;
/** The store's clock may gain so much within a day. */
export const tolerableMs: number = 10 * minute;

/** The record as this process read or wrote it last. */
export interface Seen {
  readonly epoch: string;
  readonly sequence: number;
  /** The whole record. Few repairs need it, so it is decoded only when this property is read. */
  readonly record: LedgerRecord;
  /** The store's time at that moment. */
  readonly now: number;
  /** The ledger's time at that moment, or later. */
  readonly ledgerNow: number;
  /** The least time since then. The monotonic clock may stand still during sleep. Entries then seem younger than they are, never older. */
  readonly elapsedMs: number;
  /** The most time since then, by either clock of this machine. */
  readonly maxElapsedMs: number;
}

/** A record that is ready for a decision, and the repairs that it needed. */
export interface Reconciled {
  readonly record: LedgerRecord;
  /** The ledger's time. It is the time of the store, but it never goes back: it stands still while the store's clock is up to a minute behind. */
  readonly now: number;
  /** The store lost the record that this process knows, or went back to an older one. */
  readonly lost: boolean;
  /** The number of entries that were put back from the memory of this process. */
  readonly restored: number;
  /** The least time by which the store's clock was set back. 0 if it was a minute or less. */
  readonly clockBackMs: number;
  /** The repair concerns the fleet: write the record before you use it. */
  readonly changed: boolean;
}

/** Repairs the loaded record from the memory of this process and drops what no longer counts. `epoch` is for a record that begins anew. */
export function reconcile(
  loaded: LedgerRecord | undefined,
  seen: Seen | undefined,
  now: number,
  epoch: string,
  limits: Limits,
): Reconciled {
  const lost = seen !== undefined && (loaded?.epoch !== seen.epoch || loaded.sequence < seen.sequence);
  const back = loaded && setBackSince(loaded, seen, now);
  const present = loaded && translated(loaded, seen, now, back);
  const merged = lost
    ? merge(present, seen, now, epoch)
    : { record: present ?? newRecord(epoch, now), restored: 0, changed: false };
  const clockBackMs = back ? Math.floor(back.minOldNow - now) : 0;
  const { record } = merged;
  const ledgerNow = Math.max(record.highWaterAt, now);
  return {
    record: compact({ ...record, highWaterAt: ledgerNow }, ledgerNow, limits),
    now: ledgerNow,
    lost,
    restored: merged.restored,
    clockBackMs,
    changed: merged.changed || present !== loaded,
  };
}

/** Finds out whether the store's clock was set back. A minute or less lies within the margin of a token: the ledger's time stands still for so long. */
function setBackSince(record: LedgerRecord, seen: Seen | undefined, now: number): ClockStep | undefined {
  const known = seen?.epoch === record.epoch ? seen : undefined;
  const isSame = known?.sequence === record.sequence;
  const minOldNow = Math.max(record.highWaterAt, known && isSame ? known.now + known.elapsedMs : 0);
  return minOldNow - now > minute ? { minOldNow, maxOldNow: maxOldNowOf(known), known: known?.record, now } : undefined;
}

function maxOldNowOf(known: Seen | undefined): number {
  return known ? Math.max(known.record.highWaterAt, known.ledgerNow) + known.maxElapsedMs : Number.POSITIVE_INFINITY;
}

/** Returns the loaded record with instants of the clock that the store shows now. */
function translated(
  loaded: LedgerRecord,
  seen: Seen | undefined,
  now: number,
  back: ClockStep | undefined,
): LedgerRecord {
  if (back) return withClockSetBack(loaded, back);
  if (seen?.epoch !== loaded.epoch) return loaded;
  const minOldNow = seen.now + seen.elapsedMs;
  if (now - seen.now - seen.maxElapsedMs > tolerableMs) {
    // Somebody may have written the record since then, before the clock leapt or after that.
    const maxOldNow = Math.max(loaded.highWaterAt, seen.now) + seen.maxElapsedMs + tolerableMs;
    return withClockStep(loaded, { minOldNow, maxOldNow, known: seen.record, now });
  }
  if (minOldNow - now <= minute) return loaded;
  return withMeasuredTokens(loaded, { minOldNow, maxOldNow: maxOldNowOf(seen), known: seen.record, now });
}

function merge(loaded: LedgerRecord | undefined, seen: Seen, now: number, epoch: string) {
  const older = seen.record;
  const back = setBackSince(older, seen, now);
  const memory = back ? withClockSetBack(older, back) : older;
  const base = loaded ?? newRecord(epoch, now);
  // The store went back to an older state of this record. The newer entries of other processes are lost, so the record begins anew.
  const regressed = loaded?.epoch === older.epoch;
  const gainedMs = now - seen.now - seen.elapsedMs;
  // Ignore up to ten minutes that the store's clock lost: it may gain them again, and entries count ten minutes longer for this.
  const shiftMs = Math.max(gainedMs, Math.min(0, gainedMs + tolerableMs));
  const shifted = <Part extends { at: number }>(part: Part) => ({
    ...part,
    at: Math.max(0, Math.ceil(part.at + shiftMs)),
  });
  const present = new Set(base.entries.map((entry) => entry.id));
  const entries = older.entries.filter((entry) => !present.has(entry.id)).map(shifted);
  const condensed = regressed || !loaded ? missing(older.condensed, base.condensed).map(shifted) : [];
  const { audiences } = memory.audiences.reduce(withMemory, base);
  const spentElsewhere = larger(base.spentElsewhere, older.spentElsewhere && shifted(older.spentElsewhere));
  const record: LedgerRecord = {
    ...base,
    epoch: regressed ? epoch : base.epoch,
    terms: unitedTerms(base.terms, memory.terms),
    completeSince: regressed ? now : base.completeSince,
    sequence: Math.max(base.sequence, older.sequence),
    entries: [...base.entries, ...entries].sort((a, b) => a.at - b.at),
    condensed: [...base.condensed, ...condensed],
    audiences,
    failures: base.failures ?? memory.failures,
    rateLimit: base.rateLimit ?? memory.rateLimit,
    deaths: base.deaths.count > 0 ? base.deaths : memory.deaths,
    resets: unitedResets(base.resets, older.resets.map(shifted)),
    retry: base.retry ?? memory.retry,
    spentElsewhere,
  };
  const restored = entries.length + condensed.reduce((sum, bucket) => sum + bucket.count, 0);
  // A higher sequence that only this process knows must be written too. The next read would take the record for an older one otherwise.
  const isSpentKnown = spentElsewhere === base.spentElsewhere;
  const changed = restored > 0 || audiences !== base.audiences || !isSpentKnown || record.sequence > base.sequence;
  return { record, restored, changed };
}

/**
 * Returns what buckets count that others do not. A bucket of the same latest instant is the same bucket, which may have grown. Other buckets do not say what
 * they contain: entries may count twice, never zero times.
 */
function missing(buckets: readonly Condensed[], known: readonly Condensed[]): Condensed[] {
  return buckets.flatMap((bucket) => {
    const same = known.find(({ at, pending }) => at === bucket.at && pending === bucket.pending);
    const count = bucket.count - (same?.count ?? 0);
    return count > 0 ? [{ ...bucket, count }] : [];
  });
}

/** Of two numbers that were said, the larger one counts, from the later instant on. */
function larger(one: SpentElsewhere | undefined, other: SpentElsewhere | undefined): SpentElsewhere | undefined {
  if (!one || !other) return one ?? other;
  return { ...(other.count > one.count ? other : one), at: Math.max(one.at, other.at) };
}

/** Merges one audience state from memory into the record: the later token wins, and a reset on either side holds. */
function withMemory(record: LedgerRecord, memory: AudienceState): LedgerRecord {
  const { audience, keyId } = memory;
  const state = audienceStateOf(record, audience, keyId);
  const revoked = Math.max(state.revoked, memory.revoked);
  const token = (memory.token?.generation ?? 0) > (state.token?.generation ?? revoked) ? memory.token : state.token;
  const known = memory.fingerprints;
  const fingerprints = known ? unitedFingerprints(known, state.fingerprints) : state.fingerprints;
  const isKnown = !fingerprints?.some((one, index) => one.hash !== state.fingerprints?.[index]?.hash);
  if (token === state.token && revoked === state.revoked && isKnown) return record;
  return revoke(withAudienceState(record, { ...state, token, fingerprints }), audience, keyId, revoked);
}
