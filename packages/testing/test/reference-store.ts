import { setImmediate as turn } from 'node:timers/promises';
import type { Store, StoreCallOptions, StoreChange, StoreDurability } from '@service-auth/core';
import type { OpenStore } from '../src/index.ts';

export interface Row {
  readonly record: string;
  readonly version: string;
}

/** What all handles of a reference store talk to. */
interface Server {
  readonly rows: Map<string, Row>;
  now(): number;
}

/** All that a handle does, so that a test can have one thing done wrong. */
export interface Handle {
  readonly durability: StoreDurability;
  begin(options: StoreCallOptions): Promise<void>;
  load(key: string, server: Server): Row | undefined;
  swap(key: string, change: StoreChange, server: Server, options: StoreCallOptions): boolean | Promise<boolean>;
  now(server: Server): number;
  close(server: Server): void;
}

export const rightHandle: Handle = {
  durability: 'durable',
  async begin({ signal }) {
    signal?.throwIfAborted();
    // A call takes its time, and others come in between.
    await turn();
    signal?.throwIfAborted();
  },
  load: (key, { rows }) => rows.get(key),
  swap(key, { expected, version, record }, { rows }) {
    const present = rows.get(key)?.version;
    if (present === version) return true;
    if (present !== expected) return false;
    rows.set(key, { record, version });
    return true;
  },
  now: (server) => server.now(),
  close() {},
};

/** A store whose handles differ from the right one in what `mistake` makes anew for each of them. */
export function openReferenceStore(mistake: () => Partial<Handle> = () => ({})): OpenStore {
  const origin = Date.now() - performance.now();
  const server: Server = { rows: new Map(), now: () => Math.floor(origin + performance.now()) };

  return async () => {
    const handles: Handle[] = [];
    function connect(): Store {
      const handle = { ...rightHandle, ...mistake() };
      handles.push(handle);
      return {
        durability: handle.durability,
        async load(key, options = {}) {
          await handle.begin(options);
          return { ...handle.load(key, server), now: handle.now(server) };
        },
        async swap(key, change, options = {}) {
          await handle.begin(options);
          return { swapped: await handle.swap(key, change, server, options), now: handle.now(server) };
        },
      };
    }
    const close = async () => {
      for (const handle of handles) handle.close(server);
    };
    return { store: connect(), another: async () => connect(), close };
  };
}
