import type { Store, StoreSnapshot } from '@service-auth/core';
import type { OpenStore } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { breakingHandles, force, underOtherKeys } from './handles.ts';

const anotherVersion = /^the store shows (no record|another version)/;
const noRecord = /^the store shows no record/;
const dayMs = 86_400_000;

/** Stores that do not keep what they acknowledged, or not for everybody. */
export const enduranceMistakes: readonly Mistake<OpenStore>[] = [
  {
    name: 'keeps what only its own handle knows',
    breaks: breakingHandles(() => {
      let handles = 0;
      return (right) => {
        handles += 1;
        const handle = handles;
        return underOtherKeys(right, (key) => `${key} of handle ${handle}`);
      };
    }),
    caughtBy: caught(
      anotherVersion,
      'what one handle swapped in, a handle opened before sees at once',
      'what one handle swapped in, a handle opened afterwards sees',
    ),
  },
  {
    name: 'forgets everything when a handle is opened',
    breaks: breakingHandles(() => {
      let generation = 0;
      return (right) => {
        generation += 1;
        return underOtherKeys(right, (key) => `${key} of generation ${generation}`);
      };
    }),
    caughtBy: caught(/open\(\) a second time/, 'records are there after close(), when open() is called a second time'),
  },
  {
    name: 'can be opened once',
    breaks: (open) => {
      let isOpened = false;
      return async (context) => {
        if (isOpened) throw new Error('the address is in use');
        isOpened = true;
        return open(context);
      };
    },
    caughtBy: caught(
      /^open\(\) rejected when this case called it a second time, after close\(\)$/,
      'records are there after close(), when open() is called a second time',
      'a handle that is closed rejects, or works on: it never shows less than it kept',
    ),
  },
  {
    name: 'swallows errors, and shows no record then',
    breaks: (open) => async (context) => {
      const { store, another, close } = await open(context);
      let isClosed = false;
      const wrap = (right: Store): Store => ({
        ...right,
        async load(key, options) {
          const snapshot = await right.load(key, options).catch(() => undefined);
          return snapshot && !isClosed ? snapshot : { now: Date.now() };
        },
        swap: (key, change, options) =>
          right.swap(key, change, options).catch(() => ({ swapped: false, now: Date.now() })),
      });
      return {
        store: wrap(store),
        another: async () => wrap(await another()),
        async close() {
          isClosed = true;
          await close();
        },
      };
    },
    caughtBy: {
      ...caught(noRecord, 'a handle that is closed rejects, or works on: it never shows less than it kept'),
      ...caught(
        /the aborted call resolved/,
        'a load whose signal was aborted beforehand rejects and does nothing',
        'a swap whose signal was aborted beforehand rejects and does nothing',
      ),
    },
  },
  {
    name: 'reads from a replica that is behind',
    breaks: breakingHandles(() => (right) => {
      const replica = new Map<string, StoreSnapshot>();
      return {
        async load(key, options) {
          const snapshot = replica.get(key) ?? (await right.load(key, options));
          replica.set(key, snapshot);
          return snapshot;
        },
      };
    }),
    caughtBy: caught(anotherVersion, 'what one handle swapped in, a handle opened before sees at once'),
  },
  {
    name: 'compares with the version in its cache',
    breaks: breakingHandles(() => (right) => {
      const cache = new Map<string, string | undefined>();
      return {
        async load(key, options) {
          const snapshot = await right.load(key, options);
          cache.set(key, snapshot.version);
          return snapshot;
        },
        async swap(key, change, options) {
          const isCached = cache.has(key) && cache.get(key) === change.expected;
          const result = await (isCached ? force(right, key, change, options) : right.swap(key, change, options));
          if (result.swapped) cache.set(key, change.version);
          return result;
        },
      };
    }),
    caughtBy: {
      ...caught(
        /^a swap was carried out that had to be refused/,
        'a handle that saw an older version swaps nothing in over a newer one',
      ),
      'many handles that add to one record lose nothing and invent nothing': /^\d+ entries of 100 are kept/,
    },
  },
  {
    name: 'lets records expire after a day',
    breaks: breakingHandles(() => {
      const expiresAt = new Map<string, number>();
      return (right, { clock }) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return (expiresAt.get(key) ?? 0) < clock.now() ? { now: snapshot.now } : snapshot;
        },
        swap(key, change, options) {
          expiresAt.set(key, clock.now() + dayMs);
          return right.swap(key, change, options);
        },
      });
    }),
    caughtBy: caught(anotherVersion, 'records do not expire'),
  },
  {
    name: 'keeps no more than fifty records',
    breaks: breakingHandles(() => {
      const kept: string[] = [];
      return (right) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return kept.includes(key) ? snapshot : { now: snapshot.now };
        },
        swap(key, change, options) {
          if (!kept.includes(key)) kept.push(key);
          if (kept.length > 50) kept.shift();
          return right.swap(key, change, options);
        },
      });
    }),
    caughtBy: caught(anotherVersion, 'one record is not dropped for a hundred others'),
  },
  {
    name: 'is durable in one handle, and replicated in the next',
    breaks: breakingHandles(() => {
      let handles = 0;
      return () => {
        handles += 1;
        return { durability: handles % 2 ? 'durable' : 'replicated' };
      };
    }),
    caughtBy: caught(/another handle has another durability/, 'every handle says the same of its durability'),
  },
  {
    name: 'ignores its signal',
    breaks: breakingHandles(() => (right) => ({
      load: (key) => right.load(key),
      swap: (key, change) => right.swap(key, change),
    })),
    caughtBy: caught(
      /the aborted call resolved/,
      'a load whose signal was aborted beforehand rejects and does nothing',
      'a swap whose signal was aborted beforehand rejects and does nothing',
    ),
  },
  {
    name: 'never answers a call that was aborted',
    breaks: breakingHandles(() => (right) => {
      async function unlessAborted<Value>(call: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
        const outcome = await call.catch((error: unknown) => (signal?.aborted ? undefined : Promise.reject(error)));
        if (outcome && !signal?.aborted) return outcome;
        return new Promise<never>(() => {});
      }
      return {
        load: (key, options) => unlessAborted(right.load(key, options), options?.signal),
        swap: (key, change, options) => unlessAborted(right.swap(key, change, options), options?.signal),
      };
    }),
    caughtBy: {
      ...caught(
        /the aborted load took more than/,
        'a load aborted on its way ends promptly, and the store stays usable',
      ),
      ...caught(
        /the aborted swap took more than/,
        'a swap aborted on its way ends promptly, and the store stays usable',
      ),
    },
  },
  {
    name: 'goes on listening to its signal',
    breaks: breakingHandles(() => (right) => ({
      load(key, options) {
        options?.signal?.addEventListener('abort', () => {});
        return right.load(key, options);
      },
      swap(key, change, options) {
        options?.signal?.addEventListener('abort', () => {});
        return right.swap(key, change, options);
      },
    })),
    caughtBy: caught(
      /a listener stayed on the signal/,
      'a load leaves no listener on its signal',
      'a swap leaves no listener on its signal',
    ),
  },
  {
    name: 'takes back what is aborted after the answer',
    breaks: breakingHandles(() => {
      const takenBack = new Set<string>();
      return (right) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return takenBack.has(key) ? { now: snapshot.now } : snapshot;
        },
        swap(key, change, options) {
          options?.signal?.addEventListener('abort', () => takenBack.add(key));
          return right.swap(key, change, options);
        },
      });
    }),
    caughtBy: caught(anotherVersion, 'a signal that is aborted after the answer changes nothing'),
  },
];
