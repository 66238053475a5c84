import { serviceAuthError } from '../contract/errors.ts';
import type { CommonSettings, Settings } from '../contract/settings.ts';
import type { Store, StoreCallOptions, StoreSnapshot, StoreSwapResult } from '../contract/store.ts';
import { decodeRecord, type Encoded, readBack } from '../ledger/codec.ts';
import { type Clock, type End, observe } from '../platform/clock.ts';
import { timedOut, within } from '../platform/pause.ts';
import { describeError, ownProperty, ownText } from '../platform/untrusted.ts';
import { recordKeyOf } from './seal.ts';

/** The clients for which the store is called. Their listeners get the events. */
export type Callers = readonly Settings[];

const minTimeoutMs = 2_000;
const maxTimeoutMs = 8_000;
// A replica that is a little behind shows a record that has changed meanwhile.
const maxStaleReads = 10;

/**
 * Returns the milliseconds within which a request must be sent after the read of the record that
 * allowed it. A read and a swap must fit into them.
 */
export function sendWithinMs({ timeoutMs }: Pick<CommonSettings, 'timeoutMs'>): number {
  return Math.min(10_000, Math.max(2 * minTimeoutMs, timeoutMs));
}

/**
 * Calls the store for the record of one client id. Every call has a deadline, and its failure is
 * reported.
 */
export class StoreCalls {
  /** The name of the record. It is known from the first call on. */
  key = '';
  /** The time that the latest call took. 0: the store has not answered yet. */
  roundTripMs = 0;
  /** The operation that failed last, until it succeeds. */
  failing: 'load' | 'swap' | undefined;
  /** The version of the last swap that lost, and the number of reads that showed it again since. */
  #lostSwap: { readonly version: string | undefined; reads: number } | undefined;
  /**
   * The error of a store that has never answered, and the instant until which callers get it at
   * once.
   */
  #silence: { readonly error: Error; readonly until: number } | undefined;
  readonly #settings: CommonSettings;
  readonly #clientId: string;

  constructor(settings: CommonSettings, clientId: string) {
    this.#settings = settings;
    this.#clientId = clientId;
  }

  /**
   * Loads the record. With `tries` 2 it tries again at once after a failure, so that callers do not
   * fail with it.
   * @throws `ERR_STORE`
   */
  async load(callers: Callers, tries: number): Promise<StoreSnapshot> {
    const { store } = this.#settings;
    const lostSwap = this.#lostSwap;
    const run = async (options: StoreCallOptions) => checked(await store.load(this.key, options));
    const snapshot = await this.#call(callers, 'load', run, tries);
    if (lostSwap && lostSwap.version === snapshot.version) lostSwap.reads += 1;
    return snapshot;
  }

  /**
   * Replaces the record that has the version `expected`. `encode` returns the new one.
   * @throws `ERR_STORE`, also if `encode` throws, or if the store keeps none of the writes
   */
  swap(
    callers: Callers,
    expected: string | undefined,
    version: string,
    encode: () => string,
  ): Promise<StoreSwapResult> {
    const { store } = this.#settings;
    const run = async (options: StoreCallOptions) => {
      const change = { expected, version, record: encode() };
      const result = checkedResult(await store.swap(this.key, change, options));
      const lostSwap = this.#lostSwap;
      if (result.swapped) this.#lostSwap = undefined;
      else if (!lostSwap || lostSwap.version !== expected) this.#lostSwap = { version: expected, reads: 0 };
      else if (lostSwap.reads >= maxStaleReads) throw refusedWrite();
      return result;
    };
    return this.#call(callers, 'swap', run, 1);
  }

  async #call<Result>(
    callers: Callers,
    operation: 'load' | 'swap',
    run: (options: StoreCallOptions) => Promise<Result>,
    tries: number,
  ): Promise<Result> {
    const { clock, endpoint } = this.#settings;
    const begunAt = clock.monotonic();
    if (this.#silence && begunAt < this.#silence.until) throw this.#silence.error;
    try {
      this.key = await (this.key || recordKeyOf(endpoint, this.#clientId));
      let isFirst = true;
      const once = async () => {
        const from = clock.monotonic();
        // A store that many processes ask at once is slow for all of them. A process that starts
        // has to connect, too, and may have to get credentials.
        const likelyMs = this.roundTripMs === 0 && !isFirst ? maxTimeoutMs : 4 * this.roundTripMs;
        // A request that is reserved too late is never sent. So a swap gets the time that the read
        // before it left.
        const otherMs = operation === 'load' ? minTimeoutMs : this.roundTripMs;
        const mostMs = Math.min(maxTimeoutMs, Math.min(...callers.map(sendWithinMs)) - otherMs);
        const timeoutMs = Math.max(minTimeoutMs, Math.min(mostMs, likelyMs));
        isFirst = false;
        const result = await within(timeoutMs, clock, (signal) => run({ signal }));
        if (result === timedOut) {
          // The store fell silent, so the next call gets the shortest time again.
          this.roundTripMs = Math.min(this.roundTripMs, minTimeoutMs / 4);
          throw silentStore(this.#settings.store);
        }
        this.roundTripMs = Math.max(1, clock.monotonic() - from);
        return result;
      };
      const observer = callers.find(({ observesOperations }) => observesOperations);
      const observed = () => (observer ? observe(observer, once, reporting(observer, operation)) : once());
      const result = await (tries > 1 ? observed().catch(observed) : observed());
      // A store that can be read may still refuse to be written, as a read-only replica does.
      if (this.failing === operation || operation === 'swap') this.failing = undefined;
      if (!this.failing) for (const { emitRecovered } of callers) emitRecovered();
      return result;
    } catch (error) {
      this.failing = operation;
      const { thrown, ...told } = storeFailure(operation, error, this.#settings);
      for (const { emitRepeated } of callers) emitRepeated('store_failed', { operation, ...told });
      const now = clock.monotonic();
      // The next caller need not wait as long for the same failure.
      if (this.roundTripMs === 0 && now - begunAt >= minTimeoutMs)
        this.#silence = { error: thrown, until: now + retryMs };
      throw thrown;
    }
  }
}

/** Returns the report of a call of the store. */
function reporting({ emit }: Settings, operation: 'load' | 'swap') {
  return (end: End<unknown>, durationMs: number): void => {
    const error = 'error' in end ? describeError(end.error) : undefined;
    const succeeded = 'result' in end && ownProperty(end.result, 'swapped') === false ? 'conflict' : 'done';
    emit('store_called', { operation, outcome: error === undefined ? succeeded : 'failed', error, durationMs });
  };
}

/**
 * Checks the answer of a store, because an application may have written the store. Warnings that
 * are no texts are left out.
 */
export function checked(answer: StoreSnapshot): StoreSnapshot {
  // Only these are read: a copy of a long text that a broken store returns would take milliseconds.
  const [record, version, now, warnings] = ['record', 'version', 'now', 'warnings'].map((name) =>
    ownProperty(answer, name),
  );
  const isWhole = typeof record === typeof version && (record === undefined || typeof record === 'string');
  if (!isWhole || !Number.isFinite(now)) throw new TypeError('damaged');
  return {
    ...({ record, version } as StoreSnapshot),
    now: Math.floor(now as number),
    warnings: [warnings].flat().filter((warning) => typeof warning === 'string'),
  };
}

/** Checks the result of a swap. */
function checkedResult({ swapped, now }: StoreSwapResult): StoreSwapResult {
  if (typeof swapped !== 'boolean' || !Number.isFinite(now)) throw new TypeError('damaged');
  return { swapped, now: Math.floor(now) };
}

// A record that many clients share is large. The same text is decoded once.
let latestDecoded: { readonly text: string; readonly record: ReturnType<typeof decodeRecord> } | undefined;

/** Decodes the text of a record. */
export function decoded(text: string): ReturnType<typeof decodeRecord> {
  if (latestDecoded?.text !== text) latestDecoded = { text, record: decodeRecord(text) };
  return latestDecoded.record;
}

/**
 * Returns the text of a record for the store. A record that nobody can read would stop the whole
 * fleet, so it is not written.
 */
export function readable({ record, text }: Encoded): string {
  latestDecoded = { text, record: readBack({ record, text }) };
  if (latestDecoded.record !== 'damaged') return text;
  const advice = 'the record was not changed, because the new one would be too large or invalid.';
  throw Object.assign(new RangeError(advice), { advice });
}

/** Callers may try again after this time. */
const retryMs = 1_000;

/**
 * A failed call of the store: the fields of its event, and the error that callers get. Both have
 * the name, the code and the advice of the foreign error.
 */
interface StoreFailure {
  readonly error: string;
  readonly advice: string | undefined;
  readonly thrown: Error;
}

/** Creates the error of a call that the store did not answer in time. */
export function silentStore({ adviceIfSilent }: Store): Error {
  return Object.assign(new DOMException('', 'TimeoutError'), { advice: adviceIfSilent });
}

export function storeFailure(
  operation: 'load' | 'swap',
  cause: unknown,
  { clock, store }: { readonly clock: Clock; readonly store: Store },
): StoreFailure {
  const error = describeError(cause);
  const advice = ownText(cause, 'advice');
  const verb = operation === 'load' ? 'read' : 'written';
  const retryAt = clock.now() + retryMs;
  const name = ownText(store, 'name');
  const message = `The store could not be ${verb} (${error}). Check the store and try again${advice ? `: ${advice}` : '.'}${name ? ` The store is ${name}.` : ''} The next attempt is possible at ${new Date(retryAt).toISOString()}.`;
  return { error, advice, thrown: serviceAuthError('ERR_STORE', message, { retryAt }) };
}

/**
 * Creates the error of a write whose swap lost each time, with or without a change of the record.
 */
function refusedWrite(): Error {
  const advice =
    'it refused each write. Look for a policy, a trigger or a proxy that discards writes, and for reads of an old record.';
  return Object.assign(new Error(advice), { code: 'WRITE_REFUSED', advice });
}

/** Creates the error of a write that met a write of another process each time. */
export function conflictError(settings: Parameters<typeof storeFailure>[2]): Error {
  return storeFailure('swap', refusedWrite(), settings).thrown;
}

/** Creates the error of a record that cannot be read. */
export function integrityError(problem: 'damaged' | 'unknown version', key: string, store: Store): Error {
  const where = ownText(store, 'name') ?? `the ${store.durability} store`;
  const what =
    problem === 'damaged'
      ? 'is damaged, so no token is requested. Keep a copy (service-auth record export), then run service-auth record discard: processes that run put back what they remember.'
      : 'was written by another version. If that is newer, update this process. If it is older, stop all processes and discard the record.';
  return serviceAuthError('ERR_STORE_INTEGRITY', `The record ${key} in ${where} ${what}`, {});
}
