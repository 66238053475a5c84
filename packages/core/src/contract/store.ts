import type { StoreDurability } from '../ledger/limits.ts';

/** Options of every call of a store. */
export interface StoreCallOptions {
  /**
   * Aborts when core no longer waits for the answer: 2 to 8 seconds after the call, or earlier. A
   * call may take four times as long as the one before.
   */
  signal?: AbortSignal | undefined;
}

/** The result of {@link Store.load}. */
export interface StoreSnapshot {
  /** The record. Absent: there is no record under the key. */
  record?: string | undefined;
  /** The `version` of the last swap. Absent if and only if `record` is absent. */
  version?: string | undefined;
  /**
   * The store's own clock, in epoch milliseconds, read in the same operation. It may be of whole
   * seconds, up to a second behind.
   */
  now: number;
  /**
   * Problems of the store's settings that endanger the record, each a sentence without secrets. The
   * event `store_warning` reports each of them once.
   */
  warnings?: readonly string[] | undefined;
}

/** The change of a record. See {@link Store.swap}. */
export interface StoreChange {
  /** The version that the record must still have. Absent: there must be no record. */
  expected?: string | undefined;
  /** The id of the new version. It is random and new for every change. */
  version: string;
  /** The new record. A store does not read it. */
  record: string;
}

/** The result of {@link Store.swap}. */
export interface StoreSwapResult {
  /** True if the store wrote the record of this change. */
  swapped: boolean;
  /** The store's own clock, in epoch milliseconds, read in the same operation. */
  now: number;
}

/**
 * A store keeps the record of a fleet: its tokens and its count of issued tokens. It makes no
 * decisions.
 *
 * Both methods reject if the store cannot be read or written. After a rejected `swap`, core loads
 * the record to see whether the swap was applied. Of the error, core reports `name`, `code` and
 * `advice`: a text of the store that says what to do and contains no secrets.
 */
export interface Store {
  /**
   * The failure that an acknowledged swap survives. `process`: it is lost when the process ends.
   * `durable`: it survives everything but the loss of the store. `replicated`: a failover to an
   * asynchronous replica can lose it. Core never spends the part of the limit that such a loss can
   * cost: by default 20 %, 20 % and 50 %. See `issuanceLimit.reserve`.
   */
  readonly durability: StoreDurability;
  /**
   * The words with which messages name the store, without a secret: `the directory /var/lib/app`.
   * Default: by `durability`, such as `the durable store`.
   */
  readonly name?: string | undefined;
  /**
   * The largest record that the store keeps, in bytes of UTF-8: 3,000 to 4,000,000. Default
   * 1,000,000, which is enough for some 500 tokens of 1,500 characters. If a record would become
   * larger, the request is refused before a token is requested.
   */
  readonly maxRecordBytes?: number | undefined;
  /**
   * The advice for a call that the store did not answer before its deadline: what to check, without
   * secrets. Default: none.
   */
  readonly adviceIfSilent?: string | undefined;
  /** Reads the record under `key` and the store's own clock in one operation. */
  load(key: string, options?: StoreCallOptions): Promise<StoreSnapshot>;
  /**
   * Replaces the record if its version is still `change.expected`. The swap is atomic, and as
   * durable as `durability` says once it is acknowledged. The same change may be executed twice: it
   * is reported as swapped if the record already has `change.version`.
   */
  swap(key: string, change: StoreChange, options?: StoreCallOptions): Promise<StoreSwapResult>;
}
