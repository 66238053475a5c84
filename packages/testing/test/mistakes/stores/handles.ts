import type { Store, StoreCallOptions, StoreChange, StoreSnapshot, StoreSwapResult } from '@service-auth/core';
import type { OpenStore } from '../../../src/index.ts';

/** Returns the methods in which a broken handle differs from `right`, the handle that it wraps. */
export type BreakHandle = (right: Store, context: Parameters<OpenStore>[0]) => Partial<Store>;

/** Wraps every handle that is opened. `prepare` runs once, and creates what all handles share. */
export function breakingHandles(prepare: () => BreakHandle): (open: OpenStore) => OpenStore {
  return (open) => {
    const breakHandle = prepare();
    return async (context) => {
      const { store, another, close } = await open(context);
      const wrap = (right: Store): Store => ({
        durability: right.durability,
        maxRecordBytes: right.maxRecordBytes,
        load: (key, options) => right.load(key, options),
        swap: (key, change, options) => right.swap(key, change, options),
        ...breakHandle(right, context),
      });
      return { store: wrap(store), another: async () => wrap(await another()), close };
    };
  };
}

/** Replaces the record, whatever its version is. */
export async function force(
  right: Store,
  key: string,
  change: StoreChange,
  options?: StoreCallOptions,
): Promise<StoreSwapResult> {
  for (;;) {
    const { version } = await right.load(key, options);
    const result = await right.swap(key, { ...change, expected: version }, options);
    if (result.swapped) return result;
  }
}

/** Reads the version first, and writes then if `matches` says that it is the version of the change, or the one that the change expects. */
export function comparing(
  matches: (present: string | undefined, given: string | undefined) => boolean,
): (open: OpenStore) => OpenStore {
  return breakingHandles(() => (right) => ({
    async swap(key, change, options) {
      const { version, now } = await right.load(key, options);
      if (!matches(version, change.version) && !matches(version, change.expected)) return { swapped: false, now };
      return force(right, key, change, options);
    },
  }));
}

/** Changes what is read. */
export function reading(see: (snapshot: StoreSnapshot) => StoreSnapshot): (open: OpenStore) => OpenStore {
  return breakingHandles(() => (right) => ({ load: async (key, options) => see(await right.load(key, options)) }));
}

/** A handle that keeps everything under other keys. */
export function underOtherKeys(right: Store, rename: (key: string) => string): Partial<Store> {
  return {
    load: (key, options) => right.load(rename(key), options),
    swap: (key, change, options) => right.swap(rename(key), change, options),
  };
}

/** Changes what is written. */
export function writing(alter: (record: string) => string): (open: OpenStore) => OpenStore {
  return breakingHandles(() => (right) => ({
    swap: (key, change, options) => right.swap(key, { ...change, record: alter(change.record) }, options),
  }));
}

/** A handle whose clock says something else. */
export function withClock(right: Store, tell: (now: number) => number): Partial<Store> {
  return {
    async load(key, options) {
      const snapshot = await right.load(key, options);
      return { ...snapshot, now: tell(snapshot.now) };
    },
    async swap(key, change, options) {
      const result = await right.swap(key, change, options);
      return { ...result, now: tell(result.now) };
    },
  };
}
