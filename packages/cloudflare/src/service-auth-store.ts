import type { StoreChange, StoreSnapshot, StoreSwapResult } from '@service-auth/core';
import type { DurableObjectStateLike, DurableObjectStorageLike } from './platform.ts';

// It has no RPC, and extends nothing: a class that extends `DurableObject` imports
// `cloudflare:workers`, which Node cannot load, so tests and tools would need a second file.
// `fetch` takes the caller's signal, so a deadline ends the call. RPC takes none without a flag,
// and needs a compatibility date after April 2024.
/**
 * The Durable Object that keeps one record. Export it from the main module of your Worker, bind it
 * under `durable_objects`, and list it under `new_sqlite_classes` in a migration. Only
 * {@link durableObjectStore} calls it.
 *
 * It remembers nothing between two calls, so the platform may move it, restart it and remove it
 * from memory at any time. The platform answers a call only after what the call wrote is stored on
 * several machines. https://developers.cloudflare.com/durable-objects/reference/in-memory-state/
 */
export class ServiceAuthStore {
  /**
   * Makes `DurableObjectNamespace<ServiceAuthStore>` a valid type. It does not exist at run time.
   */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly #storage: DurableObjectStorageLike;

  /** @throws Error if the class is not listed under `new_sqlite_classes` */
  constructor(state: DurableObjectStateLike) {
    this.#storage = state.storage;
    this.#storage.sql.exec(
      'create table if not exists service_auth (id integer primary key check (id = 1), version text not null, record text not null)',
    );
  }

  /** GET reads the record, PUT replaces it. */
  async fetch(request: Request): Promise<Response> {
    return Response.json(request.method === 'PUT' ? this.#swap((await request.json()) as StoreChange) : this.#load());
  }

  #load(): StoreSnapshot {
    const [row] = this.#storage.sql.exec('select version, record from service_auth').toArray();
    return { ...row, now: Date.now() };
  }

  #swap({ expected, version, record }: StoreChange): StoreSwapResult {
    const { sql } = this.#storage;
    const swapped = this.#storage.transactionSync(() => {
      const [row] = sql.exec('select version from service_auth').toArray();
      const present = row?.['version'];
      // A caller whose answer was lost sends the same change again.
      if (present === version) return true;
      if (present !== expected) return false;
      sql.exec('insert or replace into service_auth (id, version, record) values (1, ?, ?)', version, record);
      return true;
    });
    return { swapped, now: Date.now() };
  }
}
