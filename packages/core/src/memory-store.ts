import { type Clock, systemClock } from './clock.ts';
import type { Store } from './store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}

/**
 * Creates a store in the memory of this process. Its records are lost when the process ends, so use it for one long-running process or for tests.
 * Processes that restart often, and fleets, need the file, Redis or PostgreSQL store. Its clock is monotonic: a wall clock that
 * steps frees no budget.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = options.clock ?? systemClock;
  let origin: number | undefined;
  const now = () => {
    // Read the clocks at the first call, because outside of requests the clocks of workers stand still.
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
