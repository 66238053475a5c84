import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '@service-auth/core';
import { fileStore } from '@service-auth/file';
import { createTable, sqliteStore } from '@service-auth/sqlite';

/** The milliseconds of each load and of each swap. */
export interface Times {
  readonly load: number[];
  readonly swap: number[];
}

/** A record with one token has this size. */
const record = 'x'.repeat(1_500);

/** The stores for the processes of one machine, in a directory of its disk. */
export async function openLocalStores(directory: string): Promise<Record<string, Store>> {
  const stores: Record<string, Store> = { 'fileStore()': fileStore(join(directory, 'files')) };
  for (const mode of ['wal', 'delete']) {
    const database = new DatabaseSync(join(directory, `${mode}.db`));
    database.exec(`pragma journal_mode = ${mode}`);
    await createTable(database);
    stores[`sqliteStore() on node:sqlite, journal_mode ${mode}`] = sqliteStore(database);
  }
  return stores;
}

/** Measures the stores in turn, so that a disk that becomes slower is slower for all of them. */
export async function measureLocalStores(
  stores: Record<string, Store>,
  rounds: number,
): Promise<Record<string, Times>> {
  const times: Record<string, Times> = {};
  for (const name of Object.keys(stores)) times[name] = { load: [], swap: [] };
  const versions = new Map<string, string>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, store] of Object.entries(stores)) {
      const version = `${round}`;
      const change = { expected: versions.get(name), version, record };
      const from = performance.now();
      const { swapped } = await store.swap('key', change);
      const between = performance.now();
      await store.load('key');
      const to = performance.now();
      if (!swapped) throw new Error(`${name} refused a swap.`);
      versions.set(name, version);
      times[name]?.swap.push(between - from);
      times[name]?.load.push(to - between);
    }
  }
  return times;
}
