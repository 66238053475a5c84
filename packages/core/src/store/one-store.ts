import type { Store } from '../store.ts';

/**
 * Returns a function that creates a store at most once for each connection and name. Clients of one process share their reads and writes of a record if
 * they have the same store object. So an application that creates a store for each of its clients pays no more than one that creates a single store.
 */
export function onePerConnection(): (connection: object, name: string, create: () => Store) => Store {
  const known = new WeakMap<object, Map<string, Store>>();
  return (connection, name, create) => {
    const stores = known.get(connection) ?? new Map<string, Store>();
    known.set(connection, stores);
    const store = stores.get(name) ?? create();
    stores.set(name, store);
    return store;
  };
}
