import type { Store } from '../contract/store.ts';
import { hour } from '../ledger/units.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { warningOfMemory } from '../platform/several-processes.ts';
import { ownProperty } from '../platform/untrusted.ts';
import { warn } from '../platform/warn.ts';
import { randomId } from './seal.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}

// Longer than a token counts in the longest window.
const keptHours = 33 * 24;

const storePage =
  'https://github.com/service-auth/service-auth/blob/main/docs/choosing-a-store.md#when-several-processes-have-no-store';

/**
 * The content of the memory, which is data only. A function would keep the copy of this module that
 * it belongs to.
 */
interface Memory {
  /** `clearMemoryStore()` of `@service-auth/testing` replaces it. */
  records: Map<string, { readonly record: string; readonly version: string; readonly swappedAt: number }>;
  /** The key material for clients that have neither a secret nor a `storeKey`. */
  key?: string;
  /** The wall clock at the origin of the monotonic clock. */
  origin?: number;
  /** True if the process was warned that it is probably not alone. */
  isWarned?: true;
}

/**
 * Creates a store in the memory of this process. Its records are lost when the process ends, so use
 * it for one long-running process or for tests. Processes that restart often, and fleets, need the
 * file, Redis or PostgreSQL store. Its clock is monotonic: a wall clock that steps frees no budget.
 */
export function memoryStore(options?: MemoryStoreOptions): Store {
  const memory: Memory = { records: new Map() };
  return storeIn(() => memory, options?.clock ?? systemClock);
}

// The number identifies the shape of `Memory`. Releases with different shapes share no memory.
const sharedKey = Symbol.for('@service-auth/core memory 1');

/**
 * The default store: one memory for all copies of this module in the process. A hot reload loads it
 * again, a bundler gives each route its own, and ESM and CommonJS have one each. Tokens in it are
 * sealed.
 */
export const sharedMemoryStore: Store = /* @__PURE__ */ storeIn(sharedMemory, systemClock);

/** Returns key material that only the copies of this module in this process have. */
export function keyOfProcess(): string {
  const memory = sharedMemory();
  memory.key ??= Array.from({ length: 4 }, randomId).join('');
  return memory.key;
}

/**
 * Returns the records of the default store. It is another object after `clearMemoryStore()`, so
 * that no object that belongs to the old records is used again.
 */
export function sharedRecordTexts(): object {
  return sharedMemory().records;
}

function sharedMemory(): Memory {
  const found = ownProperty(globalThis, sharedKey) as Memory | undefined;
  if (found) return found;
  memoryOfCopy ??= { records: new Map() };
  // If the global object is frozen, this copy of the module keeps its own memory.
  Reflect.defineProperty(globalThis, sharedKey, { value: memoryOfCopy });
  return memoryOfCopy;
}

let memoryOfCopy: Memory | undefined;

/**
 * Warns the process. An application that gives a memory store as `store` has decided, so only the
 * default store warns.
 */
function warnOnce(warning: string): void {
  const memory = sharedMemory();
  if (memory.isWarned) return;
  memory.isWarned = true;
  warn(
    `${warning} If this process is alone, give it store: memoryStore(). See ${storePage}`,
    'SERVICE_AUTH_MEMORY_STORE',
  );
}

function storeIn(find: () => Memory, clock: Clock): Store {
  const open = () => {
    const memory = find();
    // Read the clocks at the first call, because outside of requests the clocks of workers stand
    // still.
    memory.origin ??= clock.now() - clock.monotonic();
    return { records: memory.records, now: Math.floor(memory.origin + clock.monotonic()) };
  };
  return {
    durability: 'process',
    async load(key, options) {
      options?.signal?.throwIfAborted();
      const { records, now } = open();
      const found = records.get(key);
      const warning = warningOfMemory();
      if (warning && find === sharedMemory) warnOnce(warning);
      const common = warning ? { now, warnings: [warning] } : { now };
      return found ? { record: found.record, version: found.version, ...common } : common;
    },
    async swap(key, { expected, version, record }, options) {
      options?.signal?.throwIfAborted();
      const { records, now } = open();
      const present = records.get(key)?.version;
      const swapped = present === expected || present === version;
      if (swapped) {
        // The record that was swapped longest ago comes first. After this time none of its tokens
        // counts.
        records.delete(key);
        // Hours are small numbers. A larger number would take memory of its own.
        const swappedAt = Math.floor(now / hour);
        records.set(key, { record, version, swappedAt });
        for (const [old, before] of records) {
          if (swappedAt - before.swappedAt < keptHours) break;
          records.delete(old);
        }
      }
      return { swapped, now };
    },
  };
}
