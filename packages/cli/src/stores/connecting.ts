import type { Store, StoreCallOptions } from '@service-auth/core';

/** The connection of a store. */
export interface Connection {
  connect(): Promise<unknown>;
  /** True if the server still answers. A server that refuses a command does. */
  isAlive(): boolean;
  /** Ends a connection that failed, so that the next call opens another one. */
  disconnect(): void;
}

/**
 * A store whose client connects with its first call, so that the deadline of that call covers the connection too. After a failure the next call
 * connects again: a connection that has gone silent does not come back.
 */
export function connectingStore(store: Store, { connect, isAlive, disconnect }: Connection): Store {
  let connected: Promise<unknown> | undefined;

  async function during<Result>(options: StoreCallOptions | undefined, call: () => Promise<Result>): Promise<Result> {
    connected ??= connect();
    const current = connected;
    try {
      await unlessAborted(current, options?.signal);
      return await call();
    } catch (error) {
      if (connected === current && (options?.signal?.aborted || !isAlive())) {
        connected = undefined;
        current.catch(() => {});
        disconnect();
      }
      throw error;
    }
  }

  return {
    durability: store.durability,
    load: (key, options) => during(options, () => store.load(key, options)),
    swap: (key, change, options) => during(options, () => store.swap(key, change, options)),
  };
}

function unlessAborted(promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject);
  });
}
