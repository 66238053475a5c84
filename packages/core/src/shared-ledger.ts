import { type Clock, instantOf } from './clock.ts';
import { describeForeign, own } from './foreign.ts';
import { type Instant, maxElapsedMs } from './instant.ts';
import { decodeRecord, encodeRecord } from './ledger/codec.ts';
import { compact } from './ledger/condense.ts';
import type { DeclaredTerm, LedgerRecord } from './ledger/record.ts';
import { reconcile, type Seen } from './ledger/repair.ts';
import type { Outcome, Reservation } from './ledger/settle.ts';
import { declare, foreignTerms, isDeclarationDue } from './ledger/terms.ts';
import { sharedMemoryStore } from './memory-store.ts';
import { type End, observe } from './observe.ts';
import { timedOut, untilDone, within } from './pause.ts';
import { isSecondRecord } from './record-sightings.ts';
import { randomId, recordKeyOf } from './seal.ts';
import type { Settings } from './settings.ts';
import type { StoreCallOptions, StoreSnapshot } from './store.ts';
import { checked, checkedResult, integrityError, readable, storeFailure } from './store-answers.ts';

/** The record at one moment. */
export interface View {
  readonly record: LedgerRecord;
  /** The ledger's time. */
  readonly now: number;
  /** The moment just before the store was asked, so never later than the moment of `now`. */
  readonly readAt: Instant;
  readonly version: string | undefined;
  /** Problems of the store that endanger the record. */
  readonly warnings?: readonly string[];
  /** The stored record does not say, or not recently, what this process agreed with the operator. */
  readonly isDeclarationDue?: boolean;
}

/** The record of one client in its store. */
export interface SharedLedger {
  /**
   * Reads and repairs the record. With `tries` 2, the default, it tries again at once after a failure, so that callers do not fail with it.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`
   */
  load(tries?: 1 | 2): Promise<View>;
  /**
   * Replaces the record of `view`. Undefined: the record has changed, or the answer got lost. Load it again.
   * @throws `ERR_STORE` when writing keeps failing
   */
  swap(view: View, record: LedgerRecord): Promise<View | undefined>;
  /** Writes the terms of this process, if that is due. Every other swap writes them, too. Nothing depends on its success, so it never rejects. */
  declare(view: View): Promise<View>;
}

/** Returns the ledger's time at this moment, or slightly more: the time since the read is added. */
function ledgerNow(view: View, clock: Clock): number {
  return view.now + Math.ceil(clock.monotonic() - view.readAt.monotonic);
}

/** Converts an instant of the ledger to the wall clock of this machine. */
export function toLocalTime(at: number, view: View, clock: Clock): number {
  return clock.now() + Math.round(at - ledgerNow(view, clock));
}

const storeTimeoutMs = 2_000;
const tolerableMs = 600_000;
const maxReadMs = 30_000;
// If a declaration fails, try again before others stop to enforce it.
const declareAgainMs = 300_000;

const noWarnings: readonly string[] = [];
const secondRecord =
  'This process has two records of one client id, in two stores or under two prefixes. Each of them counts alone, so together they may exceed the limit. Give all clients the same store.';

/** The memory of a process of the record and of its store. A client keeps this object, and creates the ledger for each attempt. */
export class LedgerMemory {
  key: string | undefined;
  // The record is kept as text: a store in this process shares the string. `at`: the monotonic instant when the answer arrived.
  seen: { text: string; now: number; ledgerNow: number; askedAt: Instant; at: number } | undefined;
  warned: readonly string[] = noWarnings;
  failing = false;
  /** The record could not be read when it was read last, and that was reported. */
  damaged = false;
  failedSwaps = 0;
  declareAfter: number | undefined;
  /** The terms of others that were reported last. */
  reportedTerms = '';
  /** Outcomes that are not written yet. `from`: the view with the reservation. Instants of the outcome belong to it. */
  unsettled: Map<Reservation, { outcome: Outcome; from: View }> | undefined;
}

/** Reads and replaces the record. Repairs it from memory if the store lost it. Every call of the store has a deadline. */
export function createSharedLedger(settings: Settings, memory: LedgerMemory): SharedLedger {
  const { store, clock, limits } = settings;

  async function call<Result>(
    operation: 'load' | 'swap',
    run: (key: string, options: StoreCallOptions) => Promise<Result>,
    tries = 1,
  ): Promise<Result> {
    try {
      const recordKey = await (memory.key ?? recordKeyOf(settings.endpoint, settings.clientId));
      memory.key = recordKey;
      const attempt = async () => {
        const result = await within(storeTimeoutMs, clock, (signal) => run(recordKey, { signal }));
        if (result === timedOut) throw new DOMException('', 'TimeoutError');
        return result;
      };
      const once = () => observe(settings, attempt, (...end) => report(operation, ...end));
      const result = await (tries > 1 ? once().catch(once) : once());
      if (memory.failing) settings.emit('store_recovered', {});
      memory.failing = false;
      return result;
    } catch (error) {
      memory.failing = true;
      const { thrown, ...told } = storeFailure(operation, error, clock);
      settings.emitRepeated('store_failed', 'store', { operation, ...told });
      throw thrown;
    }
  }

  function report(operation: 'load' | 'swap', end: End<unknown>, durationMs: number): void {
    const error = 'error' in end ? describeForeign(end.error) : undefined;
    const succeeded = 'result' in end && own(end.result, 'swapped') === false ? 'conflict' : 'done';
    settings.emit('store_called', {
      operation,
      outcome: error === undefined ? succeeded : 'failed',
      error,
      durationMs,
    });
  }

  function load(tries: 1 | 2 = 2): Promise<View> {
    return untilDone(clock, () => read(tries), 10);
  }

  /** Reads and repairs the record once. Undefined: the age of the answer is unknown, or the repaired record was not written. Read again. */
  async function read(tries: 1 | 2): Promise<View | undefined> {
    const readAt = instantOf(clock);
    // Take the record known before the read: the answer cannot contain what we write meanwhile.
    const known = memory.seen;
    const snapshot = await call('load', async (key, options) => checked(await store.load(key, options)), tries);
    // After a slow read, the age of the answer is unknown, and so is the life that its token has left.
    if (maxElapsedMs(readAt, instantOf(clock)) > maxReadMs) return undefined;
    const loaded = snapshot.record === undefined ? undefined : decodeRecord(snapshot.record);
    if (typeof loaded === 'string') throw damaged(loaded);
    memory.damaged = false;
    const warnings = warningsOf(snapshot, loaded);
    for (const warning of warnings) {
      if (memory.warned.includes(warning)) continue;
      memory.warned = [...memory.warned, warning];
      settings.emit('store_warning', { warning });
    }
    const remembered = known && (known.text === snapshot.record ? loaded : decodeRecord(known.text));
    // Ignore a remembered record that cannot be decoded.
    const before: Seen | undefined =
      known && typeof remembered === 'object'
        ? {
            record: remembered,
            now: known.now,
            ledgerNow: known.ledgerNow,
            elapsedMs: readAt.monotonic - known.at,
            maxElapsedMs: maxElapsedMs(known.askedAt, instantOf(clock)),
          }
        : undefined;
    const { now, ...found } = reconcile(loaded, before, snapshot.now, randomId(), limits);
    const isDue = isDeclarationDue(found.record, now, limits);
    const record = declare(found.record, now, limits, settings.instance);
    reportForeignTerms(foreignTerms(record, now, limits), now);
    if (found.lost) settings.emit('ledger_lost', { restored: found.restored });
    const backMs = before ? before.now + before.elapsedMs - snapshot.now : 0;
    const anomalyMs = Math.max(found.clockBackMs, backMs);
    if (anomalyMs > tolerableMs) settings.emit('clock_anomaly', { clock: 'store', byMs: -Math.round(anomalyMs) });
    const aheadMs = before ? snapshot.now - before.now - before.maxElapsedMs : 0;
    if (aheadMs > tolerableMs) settings.emit('clock_anomaly', { clock: 'store', byMs: Math.round(aheadMs) });

    const view = { record, now, readAt, version: snapshot.version, isDeclarationDue: isDue, warnings };
    if (!found.changed) {
      const text = snapshot.record;
      if (text !== undefined && memory.seen === known) remember(text, snapshot.now, now, readAt);
      return view;
    }
    return swap(view, record);
  }

  function damaged(problem: 'damaged' | 'unknown version'): Error {
    const { key = '' } = memory;
    if (problem === 'damaged' && !memory.damaged) settings.emit('store_damaged', { key });
    memory.damaged = true;
    return integrityError(problem, key, store);
  }

  function warningsOf({ warnings = [] }: StoreSnapshot, record: LedgerRecord | undefined): readonly string[] {
    const isSecond = record && isSecondRecord(store, memory.key ?? '', record.epoch);
    return isSecond ? [...warnings, secondRecord] : warnings;
  }

  async function swap(view: View, record: LedgerRecord): Promise<View | undefined> {
    const version = randomId();
    const next = { ...compact(record, view.now, limits), sequence: view.record.sequence + 1 };
    const readAt = instantOf(clock);
    let text = '';
    try {
      const result = await call('swap', async (key, options) => {
        text = readable(encodeRecord(next));
        const change = { expected: view.version, version, record: text };
        return checkedResult(await store.swap(key, change, options));
      });
      memory.failedSwaps = 0;
      if (!result.swapped) return undefined;
      const ledgerNow = Math.max(next.highWaterAt, result.now);
      // The store's clock may have been set back since the read. Instants in the record are of the clock before that.
      const maxNow = Math.max(ledgerNow, view.now + maxElapsedMs(view.readAt, readAt));
      remember(text, result.now, maxNow, readAt);
      return { record: next, now: ledgerNow, readAt, version };
    } catch (error) {
      // After one failed swap, load again to see what happened. After two in a row, give up: the store may be read-only.
      memory.failedSwaps += 1;
      if (memory.failedSwaps > 1) throw error;
      return undefined;
    }
  }

  /** Remembers the record, to put it back if the store loses it. The default store lies in the same memory and loses nothing. */
  function remember(text: string, now: number, ledgerNow: number, askedAt: Instant): void {
    if (store !== sharedMemoryStore) memory.seen = { text, now, ledgerNow, askedAt, at: clock.monotonic() };
  }

  async function declareTerms(view: View): Promise<View> {
    const now = clock.monotonic();
    if (!view.isDeclarationDue || now < (memory.declareAfter ?? now)) return view;
    memory.declareAfter = now + declareAgainMs;
    return (await swap(view, view.record).catch(() => undefined)) ?? view;
  }

  function reportForeignTerms(others: readonly DeclaredTerm[], now: number): void {
    const key = others.map(({ tokens, windowMs, reserve }) => `${tokens}/${windowMs}/${reserve}`).join();
    if (key === memory.reportedTerms) return;
    memory.reportedTerms = key;
    if (others.length === 0) return;
    const shown = others.map(({ by, seenAt, ...term }) => {
      return { ...term, instance: by, seenAt: clock.now() + Math.round(seenAt - now) };
    });
    settings.emit('agreement_differs', { own: limits.terms, others: shown });
  }

  return { load, swap, declare: declareTerms };
}
