import type { Clock, Store } from '@service-auth/core';

/** A store under test, opened for one case. */
export interface StoreSubject {
  readonly store: Store;
  /**
   * Another handle on the same records, as another process would open it: with a connection and a
   * memory of its own. A store that keeps its records in this process has no other handle, and
   * gives itself.
   */
  another(): Promise<Store>;
  /**
   * Closes every handle of this subject. The records stay, unless the store's durability is
   * `process`.
   */
  close(): Promise<unknown>;
}

/** The argument of `open`, new for each case. */
export interface StoreContext {
  /**
   * The clock of this process, whose time of day the cases step. Give it to a store that reads a
   * clock of this process, in place of `Date`. A store that takes its time from a server needs
   * none.
   */
  readonly clock: Clock;
}

/**
 * Opens the store under test; every time the same records. Each case calls it once, and the cases
 * about closed handles a second time, after `close()`.
 */
export type OpenStore = (context: StoreContext) => Promise<StoreSubject>;
