import type { StoreDurability } from './ledger/limits.ts';

/** Passed to every store call. */
export interface StoreCallOptions {
  /** Aborted when core no longer waits for the answer: 2 seconds after the call at the latest. */
  signal?: AbortSignal | undefined;
}

/** What {@link Store.load} found, and when. */
export interface StoreSnapshot {
  /** The record; absent when nothing is kept under the key. */
  record?: string | undefined;
  /** The id under which the record was last swapped in; absent exactly when `record` is. */
  version?: string | undefined;
  /** The store's own clock, in epoch milliseconds, read in the same operation. */
  now: number;
  /** What about the store's settings endangers the record, each in a sentence without secrets: reported once, as the event `store_warning`. */
  warnings?: readonly string[] | undefined;
}

/** A replacement of a record, see {@link Store.swap}. */
export interface StoreChange {
  /** The version the record must still have; absent: there must be no record. */
  expected?: string | undefined;
  /** The id of the new version: fresh and random for every change. */
  version: string;
  /** The new record, opaque to the store. */
  record: string;
}

/** What became of a {@link StoreChange}. */
export interface StoreSwapResult {
  /** Whether the record is now the one of this change. */
  swapped: boolean;
  /** The store's own clock, in epoch milliseconds, read in the same operation. */
  now: number;
}

/**
 * Where a fleet keeps its token and its count of issued tokens. A store keeps; it never decides.
 *
 * Both methods reject when the store cannot be read or written. A rejected `swap` may have been applied or not: core finds out.
 * Of the error, core passes on `name`, `code` and `advice`, a string of the store's own that says what to do and contains no secrets.
 */
export interface Store {
  /**
   * What an acknowledged swap survives: `process`: nothing beyond this process; `durable`: everything short of losing the store;
   * `replicated`: not a failover to an asynchronous replica. Core keeps back the part of the limit that this can cost:
   * 20 %, 20 % and 50 %, unless `issuanceLimit.reserve` says otherwise.
   */
  readonly durability: StoreDurability;
  /** The record under `key` and the store's own clock, read in one operation. */
  load(key: string, options?: StoreCallOptions): Promise<StoreSnapshot>;
  /**
   * Replaces the record if its version is still `change.expected`: atomic, and durable once acknowledged.
   * Executing the same change again reports it as swapped, for `change.version` is used once only.
   */
  swap(key: string, change: StoreChange, options?: StoreCallOptions): Promise<StoreSwapResult>;
}
