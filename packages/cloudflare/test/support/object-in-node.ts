import { DatabaseSync } from 'node:sqlite';
import type { DurableObjectNamespaceLike } from '../../src/index.ts';
import { ServiceAuthStore } from '../../src/index.ts';

/** A call of an object, before the object gets it. It may throw what the platform throws. */
export type Intercept = (call: {
  readonly name: string;
  readonly options: unknown;
  readonly init: RequestInit;
}) => unknown;

/** A namespace whose objects are in this process, each with a SQLite database in memory. Its storage has the methods that the class uses. */
export function namespaceInNode(intercept: Intercept = () => undefined): DurableObjectNamespaceLike {
  const objects = new Map<string, ServiceAuthStore>();
  function create(): ServiceAuthStore {
    const database = new DatabaseSync(':memory:');
    return new ServiceAuthStore({
      storage: {
        sql: {
          exec(query, ...bindings) {
            const rows = database.prepare(query).all(...bindings);
            return { toArray: () => rows };
          },
        },
        transactionSync: (closure) => closure(),
      },
    });
  }
  return {
    idFromName: (name) => name,
    get(id: never, options) {
      const name: string = id;
      return {
        async fetch(url, given: never) {
          const init: RequestInit = given;
          init.signal?.throwIfAborted();
          const answered = await intercept({ name, options, init });
          if (answered instanceof Response) return answered;
          const object = objects.get(name) ?? create();
          objects.set(name, object);
          // Node would leave a listener on the signal.
          return object.fetch(new Request(url, { ...init, signal: null }));
        },
      };
    },
  };
}
