import { type Clock, systemClock } from './clock.ts';
import type { Store } from './store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Time, for tests. Default: the system's clocks. */
  clock?: Clock | undefined;
}

/**
 * Keeps records in this process, and forgets them at its end: one long-running process, or tests. Its clock is monotonic, so that
 * a stepped wall clock frees no budget. Anything that restarts or runs several times needs the file, Redis or PostgreSQL store.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = options.clock ?? systemClock;
  let origin: number | undefined;
  const now = () => {
    // Once, at the first request: outside of requests the clocks of workers stand still.
    origin ??= clock.now() - clock.monotonic();
    return Math.floor(origin + clock.monotonic());
  };
  const records = new Map<string, { record: string; version: string }>();
  return {
    durability: 'process',
    async load(key, options) {
      options?.signal?.throwIfAborted();
      return { ...records.get(key), now: now() };
    },
    async swap(key, { expected, version, record }, options) {
      options?.signal?.throwIfAborted();
      const present = records.get(key)?.version;
      const swapped = present === expected || present === version;
      if (swapped) records.set(key, { record, version });
      return { swapped, now: now() };
    },
  };
}
