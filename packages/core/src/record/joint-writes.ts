import type { CommonSettings, Settings } from '../contract/settings.ts';
import type { LedgerRecord } from '../ledger/record.ts';
import type { RecordAccess, Swapped, View } from './record-access.ts';
import { viewNow } from './record-time.ts';

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

// Other processes rarely write within a minute after this one did, so the record is not read again to settle an outcome.
const trustedMs = 60_000;

/** The writes of one record by one process. Those that wait at the same time are written together, so a thousand callers cost a few swaps. */
export class JointWrites {
  readonly #settings: CommonSettings;
  readonly #access: RecordAccess;
  #queue: Waiting[] | undefined;
  #isRunning = false;
  /** The last write lost a swap before: others write at this time, so the record that this process knows is out of date. */
  #isContended = false;

  constructor(settings: CommonSettings, access: RecordAccess) {
    this.#settings = settings;
    this.#access = access;
  }

  /**
   * Applies an intent to the record, and resolves when the store confirmed the change. Intents that come while a write is under way are written together
   * by the next one. `fromMemory`: the intent needs no new read of the record.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, and what the intent throws
   */
  commit<Result>(settings: Settings, intent: Intent<Result>, fromMemory: boolean): Promise<Committed<Result>> {
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
    let swapped: Swapped | undefined;
    try {
      for (let conflicts = 1; ; conflicts += 1) {
        const callers = waiting.map(({ settings }) => settings);
        const view = base ?? (await this.#access.load(callers, 2));
        const others = view.record.sequence - sequence;
        sequence = view.record.sequence;
        const { record, applied, unchanged } = applyAll(base ? viewNow(base, this.#settings.clock) : view, waiting);
        waiting = applied.map(({ by }) => by);
        const writes = record !== view.record || view.isChanged === true;
        const stored = { ...view, isStatementDue: view.isStatementDue === true && !writes };
        for (const { by, result } of unchanged) by.resolve({ view: stored, result });
        if (!writes) return;
        swapped = await this.#access.swap(callers, view, record, swapped);
        if (typeof swapped === 'object') {
          this.#isContended = conflicts > 1;
          for (const { by, result } of applied) by.resolve({ view: swapped, result });
          return;
        }
        base = undefined;
        if (waiting.length === 0) return;
        await this.#access.pauseAfterConflict(conflicts, others);
        if (!waiting.some(({ settings }) => settings.requestBound)) waiting.push(...this.#takeQueue());
      }
    } catch (error) {
      for (const each of waiting) each.reject(error);
    }
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
      const isStored = change.record === view.record && !view.isChanged;
      record = change.record;
      (isStored ? unchanged : applied).push({ by, result: change.result as never });
    } catch (error) {
      by.reject(error);
    }
  }
  return { record, applied, unchanged };
}
