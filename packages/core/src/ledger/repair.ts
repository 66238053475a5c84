import { chargeOf, isFolded } from './attempt.ts';
import { type ClockStep, translated, withMeasuredTokens } from './clock.ts';
import { compact } from './compact.ts';
import { type LedgerRecord, newRecord } from './journal.ts';
import type { Limits } from './limits.ts';
import { merge } from './merge.ts';
import { unitedTerms, withTerms } from './terms.ts';

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
  /** The least time since then. The monotonic clock may stand still during sleep. Attempts then seem younger than they are, never older. */
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
  /** The number of tokens that were put back from the memory of this process. */
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
  const present = (loaded && onPresentClock(loaded, seen, now, back)) ?? newRecord(epoch, now);
  const record = lost ? restored(present, loaded, seen, now, epoch) : present;
  const ledgerNow = Math.max(record.highWaterAt, now);
  const ready = compact({ ...record, highWaterAt: ledgerNow }, ledgerNow, limits);
  const isRestored = lost && !isSame(ready, compact({ ...present, highWaterAt: ledgerNow }, ledgerNow, limits));
  return {
    record: ready,
    now: ledgerNow,
    lost,
    restored: Math.max(0, countOf(record) - countOf(present)),
    clockBackMs: back ? Math.floor(back.minOldNow - now) : 0,
    changed: isRestored || (loaded !== undefined && present !== loaded),
  };
}

/** Finds out whether the store's clock was set back. A minute or less lies within the margin of a token: the ledger's time stands still for so long. */
function setBackSince(record: LedgerRecord, seen: Seen | undefined, now: number): ClockStep | undefined {
  const known = seen?.epoch === record.epoch ? seen : undefined;
  const measured = known && known.sequence === record.sequence ? known.now + known.elapsedMs : 0;
  const minOldNow = Math.max(record.highWaterAt, measured);
  if (minOldNow - now <= minute) return undefined;
  const isMeasured = known !== undefined && known.record.era === record.era;
  // Up to ten minutes may be gained again, which moves nothing forward: what goes to and fro must not age.
  const stepMs = isMeasured ? Math.min(0, now - known.now - known.elapsedMs + tolerableMs) : 0;
  return {
    now,
    minOldNow,
    maxOldNow: maxOldNowOf(known),
    stepMs: stepMs || -1,
    known: isMeasured ? known.record : undefined,
  };
}

function maxOldNowOf(known: Seen | undefined): number {
  return known ? Math.max(known.record.highWaterAt, known.ledgerNow) + known.maxElapsedMs : Number.POSITIVE_INFINITY;
}

/** Returns the loaded record with instants of the clock that the store shows now. */
function onPresentClock(
  loaded: LedgerRecord,
  seen: Seen | undefined,
  now: number,
  back: ClockStep | undefined,
): LedgerRecord {
  if (back) return translated(loaded, back);
  if (seen?.epoch !== loaded.epoch) return loaded;
  const minOldNow = seen.now + seen.elapsedMs;
  const leaptMs = now - seen.now - seen.maxElapsedMs;
  if (leaptMs > tolerableMs && loaded.era === seen.record.era) {
    // Another process that saw the leap may have moved the record already.
    const movedMs = loaded.leaptMs - seen.record.leaptMs;
    if (leaptMs - movedMs <= tolerableMs) return loaded;
    return translated(loaded, {
      now,
      minOldNow,
      maxOldNow: now,
      stepMs: now - minOldNow - movedMs,
      known: seen.record,
    });
  }
  if (minOldNow - now <= minute) return loaded;
  return withMeasuredTokens(loaded, { now, minOldNow, maxOldNow: maxOldNowOf(seen), stepMs: -1, known: seen.record });
}

/** Returns the record with what this process remembers. */
function restored(
  present: LedgerRecord,
  loaded: LedgerRecord | undefined,
  seen: Seen,
  now: number,
  epoch: string,
): LedgerRecord {
  const older = seen.record;
  const gainedMs = now - seen.now - seen.elapsedMs;
  // Ignore a loss of up to ten minutes: the store's clock may gain them again, and for that reason tokens count ten minutes longer.
  const stepMs = Math.max(gainedMs, Math.min(0, gainedMs + tolerableMs));
  const minOldNow = Math.max(older.highWaterAt, seen.now + seen.elapsedMs);
  const step = { now, minOldNow, maxOldNow: maxOldNowOf(seen), stepMs, known: older };
  const memory =
    stepMs === 0 && minOldNow - now <= minute ? older : translated(older, { ...step, stepMs: stepMs || -1 });
  // The store went back to an older state of this record. The newer attempts of other processes are lost, so the record begins anew.
  const isRegressed = loaded?.epoch === older.epoch;
  const { completeSince, highWaterAt, era, leaptMs } = present;
  const clock = { completeSince: isRegressed ? now : completeSince, highWaterAt, era, leaptMs };
  const united = { ...merge(present, memory), ...clock, epoch: isRegressed ? epoch : present.epoch };
  return withTerms({ ...united, terms: present.terms }, now, unitedTerms(present.terms, memory.terms));
}

function countOf(record: LedgerRecord): number {
  const counted = record.attempts.filter((attempt) => !isFolded(record, attempt));
  const inDetail = counted.reduce((sum, attempt) => sum + chargeOf(attempt), 0);
  return record.buckets.reduce((sum, { count }) => sum + count, inDetail);
}

function isSame(one: LedgerRecord, other: LedgerRecord): boolean {
  const sorted = (record: LedgerRecord) => JSON.stringify(merge(record, record));
  return sorted(one) === sorted(other);
}
