import { setImmediate as turn } from 'node:timers/promises';
import type { Store, StoreCallOptions } from '@service-auth/core';
import type { OpenStore } from '../src/index.ts';

/** The traits of a right store. */
export interface Traits {
  /** It rejects larger records. */
  readonly maxRecordBytes?: number;
  /** Its time is the date of the answer: whole seconds of servers that differ by up to a second. */
  readonly isCoarse?: boolean;
}

/** A right store of several handles. All handles that one `OpenStore` opens talk to the same server. */
export function referenceStore({ maxRecordBytes, isCoarse = false }: Traits = {}): OpenStore {
  const origin = Date.now() - performance.now();
  const rows = new Map<string, { readonly record: string; readonly version: string }>();
  let calls = 0;
  function now(): number {
    calls += 1;
    const time = origin + performance.now();
    return isCoarse ? Math.floor((time - (calls % 3) * 500) / 1_000) * 1_000 : Math.floor(time);
  }

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
