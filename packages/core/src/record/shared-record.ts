import type { CommonSettings, Settings } from '../contract/settings.ts';
import { RequestSemaphore } from '../endpoint/request-semaphore.ts';
import type { Attempt, LedgerRecord } from '../ledger/journal.ts';
import type { Answer } from '../ledger/settle.ts';
import { background } from '../platform/pause.ts';
import { RecordAccess, type View } from './record-access.ts';
import { viewNow } from './record-time.ts';
import { conflictError } from './store-answers.ts';
import type { Callers } from './store-calls.ts';

export type { View } from './record-access.ts';

/**
 * A change of the record: a pure function of the record and its time. To apply it twice has the effect of once. It returns the record of the view if
 * nothing has to change.
 */
export type Intent<Result> = (view: View) => { readonly record: LedgerRecord; readonly result: Result };

/** The result of an intent, and the record that has its effect. */
export interface Committed<Result> {
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

interface SharedRead {
  readonly view: Promise<View>;
  readonly callers: Settings[];
}

/** What came of an attempt, not written yet. `from`: the view with the attempt. Instants of the answer belong to it. */
export interface Unsettled {
  readonly answer: Answer;
  readonly from: View;
  /** The write of it that is under way. */
  writing: Promise<View> | undefined;
}

const second = 1_000;
// A look may use a record that is this old. Every process learns of a reset within 30 seconds nevertheless, because the age counts.
const maxLookAgeMs = 10 * second;
// Other processes rarely write within a minute after this one did, so the record is not read again to settle an outcome.
const trustedMs = 60 * second;
// With shorter pauses, three hundred processes that start at once would meet again and again.
const maxPauseMs = 3 * second;
const maxPauseTrips = 400;
// They take some minutes.
const maxConflicts = 150;
// A declaration that failed is tried again before others stop to enforce it.
const declareAgainMs = 300 * second;

/** The record of one client id in one store. All clients of the process that use it share this object: one read serves all of them, and so does one write. */
export class SharedRecord {
  #requestSemaphore: RequestSemaphore | undefined;
  /** Answers that are not written yet. */
  unsettled: Map<Attempt, Unsettled> | undefined;
  /** When the record refused a caller of this process, on the monotonic clock. */
  refusedAt: number = Number.NEGATIVE_INFINITY;
  readonly settings: CommonSettings;
  readonly #access: RecordAccess;
  /** The read that looks share, and the clients that wait for it. */
  #reading: SharedRead | undefined;
  /** The read that has not begun yet. */
  #nextRead: SharedRead | undefined;
  #queue: Waiting[] | undefined;
  #isRunning = false;
  /** The last write lost a swap before: others write at this time, so the record that this process knows is out of date. */
  #isContended = false;
  #declareAfter = Number.NEGATIVE_INFINITY;

  constructor(settings: CommonSettings, clientId: string) {
    this.settings = settings;
    this.#access = new RecordAccess(settings, clientId);
  }

  /** The limit of token requests that are under way. */
  get requestSemaphore(): RequestSemaphore {
    this.#requestSemaphore ??= new RequestSemaphore();
    return this.#requestSemaphore;
  }

  /** Returns the record if it was read or written less than `maxAgeMs` ago, and its time at this moment. */
  recent(maxAgeMs: number): View | undefined {
    const latest = this.#access.latest(maxAgeMs);
    return latest && viewNow(latest, this.settings.clock);
  }

  /** Returns the record as it was at most 10 seconds ago, and the record's time at this moment. One read serves all clients. */
  async look(settings: Settings): Promise<{ readonly view: View; readonly now: number }> {
    const latest = this.#access.latest(maxLookAgeMs);
    if (latest) {
      if (!this.#access.calls.failing) settings.emitRecovered();
      return { view: latest, now: viewNow(latest, this.settings.clock).now };
    }
    const view = await (settings.requestBound ? this.#read([settings], 1) : this.#readTogether(settings));
    return { view, now: view.now };
  }

  /**
   * Reads the record. Calls of the same moment share a read. This never waits for a write that is under way.
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
   * Applies an intent to the record, and resolves when the store confirmed the change. Intents that come while a write is under way are written together
   * by the next one. `fromMemory`: the intent needs no new read of the record.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, and what the intent throws
   */
  commit<Result>(settings: Settings, intent: Intent<Result>, fromMemory = false): Promise<Committed<Result>> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { settings, intent, fromMemory, resolve, reject };
      if (settings.requestBound) void this.#cycle([waiting]);
      else {
        this.#queue ??= [];
        this.#queue.push(waiting);
        if (!this.#isRunning) void this.#run();
      }
    });
  }

  /** Writes the terms of this process, if `view` says that it is due. Every other write has them, too. Nothing depends on its success, so it never rejects. */
  async declare(settings: Settings, view: View): Promise<void> {
    const now = this.settings.clock.monotonic();
    if (!view.isDeclarationDue || now < this.#declareAfter) return;
    this.#declareAfter = now + declareAgainMs;
    await this.#access.swap([settings], view, view.record).catch(() => undefined);
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

  async #read(callers: Callers, tries: number): Promise<View> {
    for (let conflicts = 1; ; conflicts += 1) {
      const loaded = await this.#access.load(callers, tries);
      const view = loaded.isRepaired ? await this.#access.swap(callers, loaded, loaded.record) : loaded;
      if (view) return view;
      if (conflicts > 1) await this.#backOff(conflicts, 0);
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Callers of the same moment join.
    await Promise.resolve();
    for (let queue = this.#takeQueue(); queue.length > 0; queue = this.#takeQueue()) await this.#cycle(queue);
    this.#isRunning = false;
  }

  #takeQueue(): Waiting[] {
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    return queue;
  }

  /** Loads the record, applies the intents in order, and swaps once. After a conflict it begins anew, together with the intents that came meanwhile. */
  async #cycle(intents: Waiting[]): Promise<void> {
    let waiting = intents;
    const needsNoRead = !this.#isContended && waiting.every(({ fromMemory }) => fromMemory);
    let base = needsNoRead ? this.#access.latest(trustedMs) : undefined;
    let sequence = Number.POSITIVE_INFINITY;
    try {
      for (let conflicts = 1; ; conflicts += 1) {
        const callers = waiting.map(({ settings }) => settings);
        const view = base ?? (await this.#access.load(callers, 2));
        const others = view.record.sequence - sequence;
        sequence = view.record.sequence;
        const { record, applied, unchanged } = applyAll(base ? viewNow(base, this.settings.clock) : view, waiting);
        waiting = applied.map(({ by }) => by);
        const writes = record !== view.record || view.isRepaired === true;
        const stored = { ...view, isDeclarationDue: view.isDeclarationDue === true && !writes };
        for (const { by, result } of unchanged) by.resolve({ view: stored, result });
        if (!writes) return;
        const swapped = await this.#access.swap(callers, view, record);
        if (swapped) {
          this.#isContended = conflicts > 1;
          for (const { by, result } of applied) by.resolve({ view: swapped, result });
          return;
        }
        base = undefined;
        if (waiting.length === 0) return;
        await this.#backOff(conflicts, others);
        if (!waiting.some(({ settings }) => settings.requestBound)) waiting.push(...this.#takeQueue());
      }
    } catch (error) {
      for (const each of waiting) each.reject(error);
    }
  }

  /**
   * Waits for a random time, so that processes that write at once do not meet again. It grows with each conflict, and with `others`: so many of them wrote since this
   * process tried before, and as many are likely to wait. It is a number of round trips, because a store that is busy takes longer for each.
   */
  #backOff(conflicts: number, others: number): Promise<void> {
    if (conflicts >= maxConflicts) throw conflictError(this.settings);
    const trips = Math.min(maxPauseTrips, 16 * Math.max(conflicts, others));
    const most = Math.min(maxPauseMs, this.#access.calls.roundTripMs * trips);
    return new Promise((resolve) => {
      this.settings.clock.setTimer(resolve, Math.ceil(Math.random() * most), background);
    });
  }
}

/** Applies intents one after another. One that throws fails alone. The results of those before the first change, `unchanged`, are true of the stored record. */
function applyAll(view: View, waiting: readonly Waiting[]) {
  const applied: { by: Waiting; result: never }[] = [];
  const unchanged: typeof applied = [];
  let { record } = view;
  for (const by of waiting) {
    try {
      const change = by.intent({ ...view, record });
      const isStored = change.record === view.record && !view.isRepaired;
      record = change.record;
      (isStored ? unchanged : applied).push({ by, result: change.result as never });
    } catch (error) {
      by.reject(error);
    }
  }
  return { record, applied, unchanged };
}
