import type { Store } from '../contract/store.ts';

/**
 * Returns a function that calls `create` at most once for each connection and place in it: a table,
 * a prefix, a directory. Clients of one process share their reads and writes of a record if they
 * have the same store object. So an application that creates a store for each of its clients pays
 * no more than one that creates a single store.
 */
export function onePerConnection<Connection extends object>(
  create: (connection: Connection, place: string) => Store,
): (connection: Connection, place: string) => Store {
  const known = new WeakMap<Connection, Map<string, Store>>();
  return (connection, place) => {
    const stores = known.get(connection) ?? new Map<string, Store>();
    known.set(connection, stores);
    const store = stores.get(place) ?? create(connection, place);
    stores.set(place, store);
    return store;
  };
}
