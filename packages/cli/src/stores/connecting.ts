import type { Store, StoreCallOptions } from '@service-auth/core';

/**
 * A store whose client connects with its first call, so that the deadline of that call covers the connection too. After a failure the next call
 * connects again.
 */
export function connectingStore(store: Store, connect: () => Promise<unknown>): Store {
  let connected: Promise<unknown> | undefined;

  async function connection(options: StoreCallOptions | undefined): Promise<void> {
    connected ??= connect();
    const current = connected;
    current.catch(() => {
      if (connected === current) connected = undefined;
    });
    await unlessAborted(current, options?.signal);
  }

  return {
    durability: store.durability,
    async load(key, options) {
      await connection(options);
      return store.load(key, options);
    },
    async swap(key, change, options) {
      await connection(options);
      return store.swap(key, change, options);
    },
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
