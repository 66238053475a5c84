import type { CommonSettings } from '../contract/settings.ts';
import { fitted } from '../ledger/bound.ts';
import { compact } from '../ledger/compact.ts';
import { present, type Seen } from '../ledger/present.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import { isStatementDue, withStatement } from '../ledger/terms.ts';
import { instantOf } from '../platform/clock.ts';
import { type Instant, maxElapsedMs } from '../platform/instant.ts';
import { background } from '../platform/pause.ts';
import { sharedMemoryStore } from './memory-store.ts';
import { RecordEvents } from './record-events.ts';
import { randomId } from './seal.ts';
import { conflictError, decoded, integrityError, readable } from './store-answers.ts';
import { type Callers, StoreCalls } from './store-calls.ts';

/** The record at one moment. */
export interface View {
  readonly record: LedgerRecord;
  /** The record's time. */
  readonly now: number;
  /** The moment just before the store was asked, so never later than the moment of `now`. */
  readonly readAt: Instant;
  /** The lead of the store's clock over the wall clock of this machine, in milliseconds. */
  readonly storeAheadMs: number;
  readonly version: string | undefined;
  /** Problems of the store that endanger the record. */
  readonly warnings?: readonly string[];
  /** It is not what the store has. Write it before you use it. */
  readonly isChanged?: boolean;
  /** The stored record does not have the terms of this process, or they were stated too long ago. */
  readonly isStatementDue?: boolean;
}

/**
 * What came of a swap: the record as it is stored now. `conflict`: the record had changed. `failed`: the store may have
 * written it. After both, the next load shows what is stored.
 */
export type Swapped = View | 'conflict' | 'failed';

/** The record as this process read or wrote it last. It is kept as text: a store in this process shares the string. */
interface Remembered {
  readonly text: string;
  readonly id: string;
  readonly sequence: number;
  readonly movedMs: number;
  /** The store's time at that moment. */
  readonly now: number;
  readonly askedAt: Instant;
  /** The monotonic instant when the answer arrived. */
  readonly at: number;
}

const maxReadMs = 30_000;
// With shorter pauses, three hundred processes that start at once would meet again and again.
const maxPauseMs = 3_000;
const maxPauseTrips = 400;
// They take some minutes.
const maxConflicts = 150;

/** Reads and replaces the record of one client id. It remembers the record, and puts it back if the store lost it. */
export class RecordAccess {
  readonly calls: StoreCalls;
  readonly #settings: CommonSettings;
  readonly #events: RecordEvents;
  #remembered: Remembered | undefined;
  /** The record as it is stored, as far as this process knows. */
  #latest: View | undefined;

  constructor(settings: CommonSettings, clientId: string) {
    this.#settings = settings;
    this.calls = new StoreCalls(settings, clientId);
    this.#events = new RecordEvents(settings);
  }

  /** Returns the record as it was read or written last, if that is less than `maxAgeMs` ago. */
  latest(maxAgeMs: number): View | undefined {
    const latest = this.#latest;
    return latest && maxElapsedMs(latest.readAt, instantOf(this.#settings.clock)) < maxAgeMs ? latest : undefined;
  }

  /**
   * Reads the record as it is true now. With `tries` 2 it tries again at once after a failure, so that callers do not fail with it.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`
   */
  async load(callers: Callers, tries: number): Promise<View> {
    for (;;) {
      const view = await this.#read(callers, tries);
      if (view) return view;
    }
  }

  /** Reads the record once. Undefined: the age of the answer is unknown. Read again. */
  async #read(callers: Callers, tries: number): Promise<View | undefined> {
    const { store, clock, limits } = this.#settings;
    const readAt = instantOf(clock);
    // Take the record known before the read: the answer cannot contain what we write meanwhile.
    const known = this.#remembered;
    const snapshot = await this.calls.load(callers, tries);
    const { record: text, version, now: storeNow } = snapshot;
    // After a slow read, the age of the answer is unknown, and so is the life that its token has left.
    if (maxElapsedMs(readAt, instantOf(clock)) > maxReadMs) return undefined;
    const { key } = this.calls;
    const before = known && this.#seen(known, readAt);
    const loaded = text === undefined ? undefined : decoded(text);
    if (loaded === 'damaged') this.#events.damaged(callers, key);
    if (typeof loaded === 'string') throw integrityError(loaded, key, store);
    const warnings = this.#events.read(callers, snapshot);
    const found = present(loaded, before, storeNow, randomId());
    this.#events.changes(callers, found, before, storeNow);
    const { now, changed: isChanged } = found;
    const record = withStatement(found.record, now, limits, callers[0]?.instance ?? '');
    this.#events.agreements(callers, record, now);
    if (!isChanged && text !== undefined && this.#remembered === known) this.#remember(text, record, storeNow, readAt);
    const isDue = isStatementDue(found.record, now, limits);
    const storeAheadMs = storeNow - readAt.wall;
    const view = { record, now, readAt, storeAheadMs, version, warnings, isChanged, isStatementDue: isDue };
    if (!isChanged) this.#keep(view);
    return view;
  }

  /**
   * Replaces the record of `view`. `before`: what came of the last swap of the same write.
   * @throws `ERR_STORE` if that failed, and this swap fails, too: the store may be read-only
   */
  async swap(callers: Callers, view: View, record: LedgerRecord, before?: Swapped): Promise<Swapped> {
    const { clock, limits } = this.#settings;
    const version = randomId();
    const compacted = { ...compact(record, view.now, limits), sequence: view.record.sequence + 1 };
    const { record: next, text } = fitted(compacted, view.now, limits);
    const readAt = instantOf(clock);
    try {
      const result = await this.calls.swap(callers, view.version, version, () => readable(text));
      if (!result.swapped) return 'conflict';
      // The instants of the record belong to the store's clock as it was at the read. If that clock has stepped since, the next read notices.
      const maxNow = view.now + Math.ceil(maxElapsedMs(view.readAt, instantOf(clock)));
      const storeNow = Math.min(result.now, maxNow);
      this.#remember(text, next, storeNow, readAt);
      const written = (at: number): View => {
        return { record: next, now: Math.max(next.latestAt, at), readAt, storeAheadMs: at - readAt.wall, version };
      };
      this.#keep(written(storeNow));
      return written(result.now);
    } catch (error) {
      if (before === 'failed') throw error;
      return 'failed';
    }
  }

  /**
   * Waits for a random time, so that processes that write at once do not meet again. It grows with each conflict, and with `others`: so many of them wrote since this
   * process tried before, and as many are likely to wait. It is a number of round trips, because a store that is busy takes longer for each.
   */
  pauseAfterConflict(conflicts: number, others: number): Promise<void> {
    if (conflicts >= maxConflicts) throw conflictError(this.#settings);
    const trips = Math.min(maxPauseTrips, 16 * Math.max(conflicts, others));
    const most = Math.min(maxPauseMs, this.calls.roundTripMs * trips);
    return new Promise((resolve) => {
      this.#settings.clock.setTimer(resolve, Math.ceil(Math.random() * most), background);
    });
  }

  /** Keeps the decoded record, unless it is older: a read can be slower than a write that began after it. */
  #keep(view: View): void {
    const latest = this.#latest;
    const beganEarlier = latest && view.readAt.monotonic <= latest.readAt.monotonic;
    if (beganEarlier && view.record.sequence < latest.record.sequence) return;
    this.#latest = view;
  }

  /** Remembers the record, to put it back if the store loses it. The default store lies in the same memory and loses nothing. */
  #remember(text: string, { id, sequence, movedMs }: LedgerRecord, now: number, askedAt: Instant): void {
    const { store, clock } = this.#settings;
    if (store === sharedMemoryStore) return;
    this.#remembered = { text, id, sequence, movedMs, now, askedAt, at: clock.monotonic() };
  }

  /** Returns what this process remembered at `readAt`. */
  #seen({ text, askedAt, at, ...seen }: Remembered, readAt: Instant): Seen {
    return {
      ...seen,
      // This text could be decoded when it was remembered.
      get record() {
        return decoded(text) as LedgerRecord;
      },
      minElapsedMs: readAt.monotonic - at,
      maxElapsedMs: maxElapsedMs(askedAt, instantOf(this.#settings.clock)),
    };
  }
}
