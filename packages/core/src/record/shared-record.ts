import type { CommonSettings, Settings } from '../contract/settings.ts';
import { compact, fitted } from '../ledger/compact.ts';
import { isStatementDue, withStatement } from '../ledger/limits.ts';
import { present, type Remembered } from '../ledger/present.ts';
import type { LedgerRecord, Spent } from '../ledger/record.ts';
import type { Answer } from '../ledger/settle.ts';
import { second } from '../ledger/units.ts';
import { instantOf } from '../platform/clock.ts';
import { type Instant, maxElapsedMs } from '../platform/instant.ts';
import { background } from '../platform/pause.ts';
import { sharedMemoryStore, sharedRecordTexts } from './memory-store.ts';
import { RecordEvents } from './record-events.ts';
import { randomId } from './seal.ts';
import { type Callers, conflictError, decoded, integrityError, readable, StoreCalls } from './store-calls.ts';
import { type View, viewNow } from './view.ts';

/**
 * A change of the record: a pure function of the record and its time. Applying it twice has the
 * effect of once. It returns the record of the view if nothing has to change.
 */
export type Intent<Result> = (view: View) => { readonly record: LedgerRecord; readonly result: Result };

/** The result of an intent, and the record that has its effect. */
interface Committed<Result> {
  readonly view: View;
  readonly result: Result;
}

/** An intent that waits for its write. */
interface Waiting {
  readonly settings: Settings;
  readonly intent: Intent<unknown>;
  readonly fromMemory: boolean;
  resolve(committed: Committed<never>): void;
  reject(error: unknown): void;
}

/** The answer to a request that is not written yet. The instants of the answer belong to `from`. */
export interface Unsettled {
  readonly answer: Answer;
  /** The view with the reservation. */
  readonly from: View;
  /** The write that is under way. */
  writing: Promise<View> | undefined;
}

/** A view that was read a while ago, and the record's time at this moment. */
interface RecentView {
  readonly view: View;
  readonly now: number;
}

/** A read of the record, and the clients that wait for it. */
interface SharedRead {
  readonly view: Promise<View>;
  readonly callers: Settings[];
}

/**
 * The result of a swap: the record as it is stored now. `conflict`: the record had changed.
 * `failed`: the store may have written it. After both, the next read shows what is stored.
 */
type Swapped = View | 'conflict' | 'failed';

/**
 * The record that this process read or wrote last, as text: a store in this process shares the
 * string.
 */
interface KeptText extends Omit<Remembered, 'record' | 'minElapsedMs' | 'maxElapsedMs'> {
  readonly text: string;
  readonly askedAt: Instant;
  /** The monotonic instant when the answer arrived. */
  readonly at: number;
}

// A view may be this old. A process still learns of a reset within 30 seconds, because the age of
// the view counts.
const maxViewAgeMs = 10 * second;
// Other processes rarely write within a minute after this one did, so the record is not read again
// to settle an outcome.
const settlesForMs = 60 * second;
// A statement that failed is tried again before other processes stop enforcing its terms.
const stateAgainMs = 300 * second;
const maxReadMs = 30 * second;
// With shorter pauses, the swaps of three hundred processes that start at once would meet again and
// again.
const maxPauseMs = 3 * second;
const maxPauseTrips = 400;
// This many conflicts take some minutes.
const maxConflicts = 150;

/**
 * The record of one client id in one store. All clients of the process that use it share this
 * object: one read serves all of them, and so does one write. It remembers the record, and puts it
 * back if the store lost it.
 */
export class SharedRecord {
  /** Answers that are not written yet. */
  unsettled: Map<Spent, Unsettled> | undefined;
  /** When the record refused a caller of this process, on the monotonic clock. */
  refusedAt: number = Number.NEGATIVE_INFINITY;
  readonly settings: CommonSettings;
  readonly #calls: StoreCalls;
  readonly #events: RecordEvents;
  #kept: KeptText | undefined;
  /** The record as it is stored, as far as this process knows. */
  #latest: View | undefined;
  /** The read that views share. */
  #reading: SharedRead | undefined;
  /** The read that has not begun yet. */
  #nextRead: SharedRead | undefined;
  /** The intents that the next write takes. */
  #queue: Waiting[] | undefined;
  #isWriting = false;
  /**
   * True if the last write lost a swap: other processes are writing, so the latest view is out of
   * date.
   */
  #isContended = false;
  #stateAfter = Number.NEGATIVE_INFINITY;

  constructor(settings: CommonSettings, clientId: string) {
    this.settings = settings;
    this.#calls = new StoreCalls(settings, clientId);
    this.#events = new RecordEvents(settings);
  }

  /** Returns the record if it was read or written less than `maxAgeMs` ago. */
  recentView(maxAgeMs: number): RecentView | undefined {
    const view = this.#latestSince(maxAgeMs);
    return view && { view, now: viewNow(view, this.settings.clock).now };
  }

  /** Returns the record as it was at most 10 seconds ago. One read serves all clients. */
  async view(settings: Settings): Promise<RecentView> {
    const recent = this.recentView(maxViewAgeMs);
    if (recent) {
      if (!this.#calls.failing) settings.emitRecovered();
      return recent;
    }
    const view = await (settings.requestBound ? this.#read([settings], 1) : this.#readTogether(settings));
    return { view, now: view.now };
  }

  /**
   * Reads the record. Calls of the same moment share a read. This never waits for a write.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`
   */
  read(settings: Settings): Promise<View> {
    if (settings.requestBound) return this.#read([settings], 2);
    // A read that has begun may be too old for this call, so it joins only the next one.
    if (!this.#nextRead) {
      const callers: Settings[] = [];
      const view = Promise.resolve().then(() => {
        this.#nextRead = undefined;
        return this.#read(callers, 2);
      });
      this.#nextRead = { view, callers };
    }
    this.#nextRead.callers.push(settings);
    return this.#nextRead.view;
  }

  /**
   * Applies an intent to the record, and resolves when the store confirmed the change. Intents that
   * come while a write is under way are written together by the next one, so a thousand callers
   * cost a few swaps. `fromMemory`: the intent needs no new read of the record.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, and what the intent throws
   */
  commit<Result>(settings: Settings, intent: Intent<Result>, fromMemory = false): Promise<Committed<Result>> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { settings, intent, fromMemory, resolve, reject };
      if (settings.requestBound) void this.#write([waiting]);
      else {
        this.#queue ??= [];
        this.#queue.push(waiting);
        if (!this.#isWriting) void this.#writeAll();
      }
    });
  }

  /**
   * States the terms of this process, if `view` says that this is due. Every other write states
   * them, too. Nobody depends on its success, so it never rejects.
   */
  async state(settings: Settings, view: View): Promise<void> {
    const now = this.settings.clock.monotonic();
    if (!view.isStatementDue || now < this.#stateAfter) return;
    this.#stateAfter = now + stateAgainMs;
    await this.#swap([settings], view, view.record);
  }

  #latestSince(maxAgeMs: number): View | undefined {
    const latest = this.#latest;
    const now = instantOf(this.settings.clock);
    return latest && maxElapsedMs(latest.readAt, now) < maxAgeMs ? latest : undefined;
  }

  #readTogether(settings: Settings): Promise<View> {
    if (this.#reading) this.#reading.callers.push(settings);
    else {
      const callers = [settings];
      const view = this.#read(callers, 1).finally(() => {
        this.#reading = undefined;
      });
      this.#reading = { view, callers };
    }
    return this.#reading.view;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Callers of the same moment join.
    await Promise.resolve();
    for (let queue = this.#takeQueue(); queue.length > 0; queue = this.#takeQueue()) await this.#write(queue);
    this.#isWriting = false;
  }

  #takeQueue(): Waiting[] {
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    return queue;
  }

  /** Reads the record, and writes it if the store has another one. */
  async #read(callers: Callers, tries: number): Promise<View> {
    let swapped: Swapped | undefined;
    for (let conflicts = 1; ; conflicts += 1) {
      const loaded = await this.#load(callers, tries);
      if (!loaded.isChanged) return loaded;
      swapped = await this.#swap(callers, loaded, loaded.record, swapped);
      if (typeof swapped === 'object') return swapped;
      if (conflicts > 1) await this.#pauseAfterConflict(conflicts, 0);
    }
  }

  /**
   * Loads the record, applies the intents in order, and swaps once. After a conflict it begins
   * anew, together with the intents that came meanwhile.
   */
  async #write(intents: Waiting[]): Promise<void> {
    let waiting = intents;
    const needsNoRead = !this.#isContended && waiting.every(({ fromMemory }) => fromMemory);
    let base = needsNoRead ? this.#latestSince(settlesForMs) : undefined;
    let sequence = Number.POSITIVE_INFINITY;
    let swapped: Swapped | undefined;
    try {
      for (let conflicts = 1; ; conflicts += 1) {
        const callers = waiting.map(({ settings }) => settings);
        const view = base ?? (await this.#load(callers, 2));
        const others = view.record.sequence - sequence;
        sequence = view.record.sequence;
        const { record, applied, unchanged } = applyAll(base ? viewNow(base, this.settings.clock) : view, waiting);
        waiting = applied.map(({ by }) => by);
        const writes = record !== view.record || view.isChanged === true;
        const stored = { ...view, isStatementDue: view.isStatementDue === true && !writes };
        for (const { by, result } of unchanged) by.resolve({ view: stored, result });
        if (!writes) return;
        swapped = await this.#swap(callers, view, record, swapped);
        if (typeof swapped === 'object') {
          this.#isContended = conflicts > 1;
          for (const { by, result } of applied) by.resolve({ view: swapped, result });
          return;
        }
        base = undefined;
        if (waiting.length === 0) return;
        await this.#pauseAfterConflict(conflicts, others);
        if (!waiting.some(({ settings }) => settings.requestBound)) waiting.push(...this.#takeQueue());
      }
    } catch (error) {
      for (const each of waiting) each.reject(error);
    }
  }

  /**
   * Loads the record as it is true now. With `tries` 2 it tries again at once after a failure, so
   * that callers do not fail with it.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`
   */
  async #load(callers: Callers, tries: number): Promise<View> {
    for (;;) {
      const view = await this.#loadOnce(callers, tries);
      if (view) return view;
    }
  }

  /**
   * Loads the record once. Undefined: the age of the answer is unknown, so load the record again.
   */
  async #loadOnce(callers: Callers, tries: number): Promise<View | undefined> {
    const { store, clock, limits } = this.settings;
    const readAt = instantOf(clock);
    // Take the record known before the read: the answer cannot contain what we write meanwhile.
    const kept = this.#kept;
    const snapshot = await this.#calls.load(callers, tries);
    const { record: text, version, now: storeNow } = snapshot;
    // After a slow read, the age of the answer is unknown, and so is the life that its token has
    // left.
    if (maxElapsedMs(readAt, instantOf(clock)) > maxReadMs) return undefined;
    const { key } = this.#calls;
    const remembered = kept && this.#remembered(kept, readAt);
    const loaded = text === undefined ? undefined : decoded(text);
    if (loaded === 'damaged') this.#events.damaged(callers, key);
    if (typeof loaded === 'string') throw integrityError(loaded, key, store);
    const warnings = this.#events.read(callers, snapshot);
    const found = present(loaded, remembered, storeNow, randomId());
    this.#events.changes(callers, found, remembered, storeNow);
    const { now, changed: isChanged } = found;
    const situation = { record: found.record, now, limits };
    const record = withStatement(situation, callers[0]?.instance ?? '');
    this.#events.agreements(callers, { ...situation, record });
    if (!isChanged && text !== undefined && this.#kept === kept) this.#keepText(text, record, storeNow, readAt);
    const isDue = isStatementDue(situation);
    const storeAheadMs = storeNow - readAt.wall;
    const view = { record, now, limits, readAt, storeAheadMs, version, warnings, isChanged, isStatementDue: isDue };
    if (!isChanged) this.#keep(view);
    return view;
  }

  /**
   * Replaces the record of `view`. `before`: the result of the last swap of the same write.
   * @throws `ERR_STORE` if the last swap failed, and this one fails, too: the store may be
   *   read-only
   */
  async #swap(callers: Callers, view: View, record: LedgerRecord, before?: Swapped): Promise<Swapped> {
    const { clock, limits } = this.settings;
    const version = randomId();
    const compacted = { ...compact({ ...view, record }), sequence: view.record.sequence + 1 };
    const { record: next, text } = fitted({ ...view, record: compacted });
    const readAt = instantOf(clock);
    try {
      const result = await this.#calls.swap(callers, view.version, version, () => readable({ record: next, text }));
      if (!result.swapped) return 'conflict';
      // The instants of the record belong to the store's clock as it was at the read. If that clock
      // has stepped since, the next read notices.
      const maxNow = view.now + Math.ceil(maxElapsedMs(view.readAt, instantOf(clock)));
      const storeNow = Math.min(result.now, maxNow);
      this.#keepText(text, next, storeNow, readAt);
      const written = (at: number): View => {
        const now = Math.max(next.latestAt, at);
        return { record: next, now, limits, readAt, storeAheadMs: at - readAt.wall, version };
      };
      this.#keep(written(storeNow));
      return written(result.now);
    } catch (error) {
      if (before === 'failed') throw error;
      return 'failed';
    }
  }

  /**
   * Waits for a random time, so that processes that write at once do not meet again. The time grows
   * with `conflicts`, and with `others`, the number of writes by other processes since the last
   * try. It is a number of round trips, because a busy store takes longer for each.
   */
  #pauseAfterConflict(conflicts: number, others: number): Promise<void> {
    if (conflicts >= maxConflicts) throw conflictError(this.settings);
    const trips = Math.min(maxPauseTrips, 16 * Math.max(conflicts, others));
    const most = Math.min(maxPauseMs, this.#calls.roundTripMs * trips);
    return new Promise((resolve) => {
      this.settings.clock.setTimer(resolve, Math.ceil(Math.random() * most), background);
    });
  }

  /**
   * Keeps the decoded record, unless it is older than the latest one: a read can be slower than a
   * later write.
   */
  #keep(view: View): void {
    const latest = this.#latest;
    const beganEarlier = latest && view.readAt.monotonic <= latest.readAt.monotonic;
    if (beganEarlier && view.record.sequence < latest.record.sequence) return;
    this.#latest = view;
  }

  /** Keeps the text. The default store lies in the same memory and loses nothing. */
  #keepText(text: string, { id, sequence, movedMs }: LedgerRecord, now: number, askedAt: Instant): void {
    const { store, clock } = this.settings;
    if (store === sharedMemoryStore) return;
    this.#kept = { text, id, sequence, movedMs, now, askedAt, at: clock.monotonic() };
  }

  /** Returns the record that this process remembered at `readAt`. */
  #remembered({ text, askedAt, at, ...kept }: KeptText, readAt: Instant): Remembered {
    return {
      ...kept,
      // This text could be decoded when it was kept.
      get record() {
        return decoded(text) as LedgerRecord;
      },
      minElapsedMs: readAt.monotonic - at,
      maxElapsedMs: maxElapsedMs(askedAt, instantOf(this.settings.clock)),
    };
  }
}

/**
 * Applies intents one after another. One that throws fails alone. The results of those before the
 * first change, `unchanged`, are true of the stored record.
 */
function applyAll(view: View, waiting: readonly Waiting[]) {
  const applied: { by: Waiting; result: never }[] = [];
  const unchanged: typeof applied = [];
  let { record } = view;
  for (const by of waiting) {
    try {
      const change = by.intent({ ...view, record });
      const isStored = change.record === view.record && !view.isChanged;
      record = change.record;
      (isStored ? unchanged : applied).push({ by, result: change.result as never });
    } catch (error) {
      by.reject(error);
    }
  }
  return { record, applied, unchanged };
}

type SharedRecords = Map<string, WeakRef<SharedRecord>>;

// The levels: the keeper of the records (the store, or the memory of the process), then the token
// endpoint with the agreement, then the client id. A process may have ten thousand clients, so each
// adds little.
const recordsOf = new WeakMap<object, Map<string, SharedRecords>>();
// The names of records that are gone are removed when this many are known.
const sweptAt = 1_000;

/**
 * Returns the record of a client id in a store. Clients of one process share it if they state the
 * same agreement and have the same clock.
 */
export function sharedRecordOf(settings: CommonSettings, clientId: string): SharedRecord {
  const { store, endpoint, clock, limits } = settings;
  const keeper = store === sharedMemoryStore ? sharedRecordTexts() : store;
  const ofStore = recordsOf.get(keeper) ?? new Map<string, SharedRecords>();
  recordsOf.set(keeper, ofStore);
  const name = JSON.stringify([endpoint, limits.terms]);
  const records = ofStore.get(name) ?? new Map<string, WeakRef<SharedRecord>>();
  ofStore.set(name, records);
  const known = records.get(clientId)?.deref();
  if (known?.settings.clock === clock) return known;
  const record = new SharedRecord(settings, clientId);
  records.set(clientId, new WeakRef(record));
  if (records.size % sweptAt === 0) sweep(records);
  return record;
}

function sweep(records: SharedRecords): void {
  for (const [clientId, record] of records) if (!record.deref()) records.delete(clientId);
}
