import type { Store, StoreCallOptions } from '@service-auth/core';
import { abortable } from '@service-auth/core/store';

export interface Connection {
  readonly store: Store;
  /** True if it can be used after this error: a server that refuses a command still answers. */
  isUsable(error: unknown): boolean;
}

/**
 * A store whose client connects with its first call, so that the deadline of that call covers the
 * connection too. After a failure the next call connects again: a connection that has gone silent
 * does not come back. `connect`: what it opens ends when the signal aborts, also before it is open.
 * `connection`: that of the latest call.
 */
export function connectingStore<Opened extends Connection>(
  { durability, name, maxRecordBytes }: Pick<Store, 'durability' | 'name' | 'maxRecordBytes'>,
  connect: (ending: AbortSignal) => Promise<Opened>,
): { readonly store: Store; readonly connection: () => Promise<Opened> } {
  let current: { readonly opened: Promise<Opened>; readonly ending: AbortController } | undefined;

  function connection(): Promise<Opened> {
    if (!current) {
      const ending = new AbortController();
      current = { opened: connect(ending.signal), ending };
    }
    return current.opened;
  }

  async function during<Result>(
    options: StoreCallOptions | undefined,
    call: (store: Store) => Promise<Result>,
  ): Promise<Result> {
    const opening = connection();
    let opened: Opened | undefined;
    try {
      opened = await abortable(opening, options?.signal);
      return await call(opened.store);
    } catch (error) {
      if (current?.opened === opening && (options?.signal?.aborted || !opened?.isUsable(error))) {
        current.ending.abort();
        current = undefined;
        opening.catch(() => {});
      }
      throw error;
    }
  }

  return {
    connection,
    store: {
      durability,
      name,
      maxRecordBytes,
      load: (key, options) => during(options, (store) => store.load(key, options)),
      swap: (key, change, options) => during(options, (store) => store.swap(key, change, options)),
    },
  };
}
