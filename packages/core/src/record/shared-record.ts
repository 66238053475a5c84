import type { CommonSettings, Settings } from '../contract/settings.ts';
import type { Spent } from '../ledger/record.ts';
import type { Answer } from '../ledger/settle.ts';
import { type Committed, type Intent, JointWrites } from './joint-writes.ts';
import { RecordAccess, type Swapped, type View } from './record-access.ts';
import { viewNow } from './record-time.ts';
import type { Callers } from './store-calls.ts';

export type { Intent } from './joint-writes.ts';
export type { View } from './record-access.ts';

/** A record as it was read, and its time at this moment. */
interface Look {
  readonly view: View;
  readonly now: number;
}

interface SharedRead {
  readonly view: Promise<View>;
  readonly callers: Settings[];
}

/** What came of a request, not written yet. `from`: the view with its reservation. Instants of the answer belong to it. */
export interface Unsettled {
  readonly answer: Answer;
  readonly from: View;
  /** The write of it that is under way. */
  writing: Promise<View> | undefined;
}

const second = 1_000;
// A look may use a record that is this old. Every process learns of a reset within 30 seconds nevertheless, because the age counts.
const maxLookAgeMs = 10 * second;
// A statement that failed is tried again before others stop enforcing it.
const stateAgainMs = 300 * second;

/** The record of one client id in one store. All clients of the process that use it share this object: one read serves all of them, and so does one write. */
export class SharedRecord {
  /** Answers that are not written yet. */
  unsettled: Map<Spent, Unsettled> | undefined;
  /** When the record refused a caller of this process, on the monotonic clock. */
  refusedAt: number = Number.NEGATIVE_INFINITY;
  readonly settings: CommonSettings;
  readonly #access: RecordAccess;
  /** The read that looks share, and the clients that wait for it. */
  #reading: SharedRead | undefined;
  /** The read that has not begun yet. */
  #nextRead: SharedRead | undefined;
  #writes: JointWrites | undefined;
  #stateAfter = Number.NEGATIVE_INFINITY;

  constructor(settings: CommonSettings, clientId: string) {
    this.settings = settings;
    this.#access = new RecordAccess(settings, clientId);
  }

  /** Returns the record if it was read or written less than `maxAgeMs` ago, and its time at this moment. */
  recent(maxAgeMs: number): Look | undefined {
    const view = this.#access.latest(maxAgeMs);
    return view && { view, now: viewNow(view, this.settings.clock).now };
  }

  /** Returns the record as it was at most 10 seconds ago, and its time at this moment. One read serves all clients. */
  async look(settings: Settings): Promise<Look> {
    const recent = this.recent(maxLookAgeMs);
    if (recent) {
      if (!this.#access.calls.failing) settings.emitRecovered();
      return recent;
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
   * Applies an intent to the record, and resolves when the store confirmed the change. `fromMemory`: the intent needs no new read of the record.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, and what the intent throws
   */
  commit<Result>(settings: Settings, intent: Intent<Result>, fromMemory = false): Promise<Committed<Result>> {
    this.#writes ??= new JointWrites(this.settings, this.#access);
    return this.#writes.commit(settings, intent, fromMemory);
  }

  /** States the terms of this process, if `view` says that it is due. Every other write has them, too. Nothing depends on its success, so it never rejects. */
  async state(settings: Settings, view: View): Promise<void> {
    const now = this.settings.clock.monotonic();
    if (!view.isStatementDue || now < this.#stateAfter) return;
    this.#stateAfter = now + stateAgainMs;
    await this.#access.swap([settings], view, view.record);
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
    let swapped: Swapped | undefined;
    for (let conflicts = 1; ; conflicts += 1) {
      const loaded = await this.#access.load(callers, tries);
      if (!loaded.isChanged) return loaded;
      swapped = await this.#access.swap(callers, loaded, loaded.record, swapped);
      if (typeof swapped === 'object') return swapped;
      if (conflicts > 1) await this.#access.pauseAfterConflict(conflicts, 0);
    }
  }
}
