import {
  type Clock,
  memoryStore,
  type Store,
  type StoreDurability,
  type StoreSnapshot,
  type StoreSwapResult,
} from '../../src/index.ts';
import { watchForCanaries } from './canaries.ts';

/** The fault that replaces one call. */
export type Fault = <Result>(call: () => Promise<Result>) => Promise<Result>;

const noAnswer = new Promise<never>(() => {});

/** It is not executed and rejects. */
export const fails: Fault = () => Promise.reject(Object.assign(new Error('store is down'), { code: 'ECONNRESET' }));
/** It is not executed and never settles. */
export const hangs: Fault = () => noAnswer;
/** Executed, but reported as failed. */
export const losesReply: Fault = async (call) => {
  await call();
  throw new Error('reply lost');
};
/** Executed, but never answered. */
export const hangsAfterwards: Fault = async (call) => {
  await call();
  return noAnswer;
};
/** Executed twice, as a client does that sends again. */
export const duplicates: Fault = async (call) => {
  await call();
  return call();
};
/** Executed now, answered when `gate` opens. */
export const answersAfter =
  (gate: Promise<unknown>): Fault =>
  async (call) => {
    const result = await call();
    await gate;
    return result;
  };

/** A store that does on command what stores do. */
export interface FaultyStore extends Store {
  /** Faults of the next calls of one kind. */
  next(operation: 'load' | 'swap', ...faults: Fault[]): void;
  /** The fault of all other calls of one kind, or of both; without one: none. */
  always(operation: 'load' | 'swap' | 'both', fault?: Fault): void;
  readonly calls: { readonly load: number; readonly swap: number };
  /** The lead of its clock. */
  aheadMs: number;
  /** The record as text; undefined when there is none. */
  text(): Promise<string | undefined>;
  /** Loses its record, or replaces it. */
  replace(record: string | undefined): Promise<void>;
}

export function createFaultyStore(clock: Clock, durability: StoreDurability = 'durable'): FaultyStore {
  const script = { load: [] as Fault[], swap: [] as Fault[] };
  const usual: { load?: Fault | undefined; swap?: Fault | undefined } = {};
  const calls = { load: 0, swap: 0 };
  let inner = memoryStore({ clock });
  let keyInUse = '';

  async function run<Result>(operation: 'load' | 'swap', call: () => Promise<Result>): Promise<Result> {
    calls[operation] += 1;
    const fault = script[operation].shift() ?? usual[operation];
    return fault ? fault(call) : call();
  }

  const store: FaultyStore = {
    durability,
    calls,
    aheadMs: 0,
    load(key) {
      keyInUse = key;
      return run('load', async (): Promise<StoreSnapshot> => {
        const snapshot = await inner.load(key);
        return { ...snapshot, now: snapshot.now + store.aheadMs };
      });
    },
    swap(key, change) {
      keyInUse = key;
      watchForCanaries('store record', change);
      return run('swap', async (): Promise<StoreSwapResult> => {
        const result = await inner.swap(key, change);
        return { ...result, now: result.now + store.aheadMs };
      });
    },
    next: (operation, ...faults) => void script[operation].push(...faults),
    always(operation, fault) {
      for (const each of ['load', 'swap'] as const) if (operation === 'both' || operation === each) usual[each] = fault;
    },
    text: async () => (await inner.load(keyInUse)).record,
    async replace(record) {
      inner = memoryStore({ clock });
      if (record !== undefined) await inner.swap(keyInUse, { version: `replaced ${calls.swap}`, record });
    },
  };
  return store;
}
