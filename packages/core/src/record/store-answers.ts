import { serviceAuthError } from '../contract/errors.ts';
import type { Store, StoreSnapshot, StoreSwapResult } from '../contract/store.ts';
import { decodeRecord } from '../ledger/codec.ts';
import type { Clock } from '../platform/clock.ts';
import { describeError, ownProperty, ownText } from '../platform/untrusted.ts';

/** Checks what a store returned. It may be the store of an application. Warnings that are no texts are left out. */
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
export function checkedResult({ swapped, now }: StoreSwapResult): StoreSwapResult {
  if (typeof swapped !== 'boolean' || !Number.isFinite(now)) throw new TypeError('damaged');
  return { swapped, now: Math.floor(now) };
}

// A record that many clients share is large. The same text is decoded once.
let latestDecoded: { readonly text: string; readonly record: ReturnType<typeof decodeRecord> } | undefined;

/** Decodes the text of a record. `isNew`: this process has just encoded it. */
export function decoded(text: string, isNew = false): ReturnType<typeof decodeRecord> {
  if (latestDecoded?.text !== text) latestDecoded = { text, record: decodeRecord(text, isNew) };
  return latestDecoded.record;
}

/** A record in the store that nobody can read would stop the whole fleet, so it is not written. */
export function readable(text: string): string {
  if (decoded(text, true) !== 'damaged') return text;
  const advice = 'the record was not changed, because the new one would be too large or invalid.';
  throw Object.assign(new RangeError(advice), { advice });
}

/** Callers may try again after this time. */
export const retryMs = 1_000;

/** A call of the store that failed: what the event tells, and the error of callers. They have the name, the code and the advice of the foreign error. */
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

/** Creates the error of a write that lost each time against a change of the record, or although there was none. */
export function refusedWrite(): Error {
  const advice =
    'it refused each write. Look for a policy, a trigger or a proxy that discards writes, and for reads of an old record.';
  return Object.assign(new Error(advice), { code: 'WRITE_REFUSED', advice });
}

/** Creates the error of a change of the record that met another one each time. */
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
