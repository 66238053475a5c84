import { setImmediate as turn } from 'node:timers/promises';
import type { Store, StoreCallOptions } from '@service-auth/core';
import type { OpenStore } from '../src/index.ts';

/** A right store of several handles. All handles that one `OpenStore` opens talk to the same server. It rejects records above `maxRecordBytes`. */
export function referenceStore(maxRecordBytes?: number): OpenStore {
  const origin = Date.now() - performance.now();
  const rows = new Map<string, { readonly record: string; readonly version: string }>();
  const now = () => Math.floor(origin + performance.now());

  async function travel({ signal }: StoreCallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    // A call takes its time, and others come in between.
    await turn();
    signal?.throwIfAborted();
  }
  const connect = (): Store => ({
    durability: 'durable',
    maxRecordBytes,
    async load(key, options) {
      await travel(options);
      return { ...rows.get(key), now: now() };
    },
    async swap(key, { expected, version, record }, options) {
      await travel(options);
      if (Buffer.byteLength(record) > (maxRecordBytes ?? Number.POSITIVE_INFINITY)) throw new RangeError('too large');
      const present = rows.get(key)?.version;
      const swapped = present === expected || present === version;
      if (swapped) rows.set(key, { record, version });
      return { swapped, now: now() };
    },
  });
  return async () => ({ store: connect(), another: async () => connect(), close: async () => {} });
}
