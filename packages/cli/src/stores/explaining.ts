import type { Store } from '@service-auth/core';

export interface Explaining {
  /** Creates the table. Undefined: the command only reads. */
  readonly create: (() => Promise<unknown>) | undefined;
  /** Returns the error with advice, if there is any. */
  explain(error: unknown): unknown;
}

/** Creates a missing table for a command that writes, and adds what to do to errors of the connection. */
export function explainingStore(store: Store, { create, explain }: Explaining): Store {
  async function load(...call: Parameters<Store['load']>) {
    try {
      return await store.load(...call);
    } catch (error) {
      if (Object(error).name !== 'MissingTable') throw explain(error);
      if (!create) {
        const advice = 'no program has used it yet, or the address names another table or database.';
        throw Object.assign(new Error('missing'), { name: 'MissingTable', advice });
      }
    }
    try {
      await create();
    } catch (error) {
      throw explain(error);
    }
    return store.load(...call);
  }
  return { ...store, load };
}
