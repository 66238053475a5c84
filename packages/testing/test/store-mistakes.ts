import { setImmediate as turn } from 'node:timers/promises';
import { type Handle, type Row, rightHandle } from './reference-store.ts';

export interface Mistake {
  /** What a handle does otherwise; made anew for each handle. */
  readonly make: () => Partial<Handle>;
  /** Cases that must notice it. */
  readonly caughtBy: readonly string[];
  /** A case that has nothing to do with it: a suite that fails whatever it is given proves nothing. Default: `unrelated`. */
  readonly passes?: string;
}

export const unrelated = 'a key that was never written has neither record nor version';
const dayMs = 86_400_000;

function renamingKeys(rename: (key: string) => string): Partial<Handle> {
  return {
    load: (key, server) => rightHandle.load(rename(key), server),
    swap: (key, change, server, options) => rightHandle.swap(rename(key), change, server, options),
  };
}

function alteringRecords(alter: (record: string) => string): Partial<Handle> {
  return {
    swap: (key, change, server, options) =>
      rightHandle.swap(key, { ...change, record: alter(change.record) }, server, options),
  };
}

/** A swap that takes two versions for the same whenever `same` says so. */
function comparing(same: (present: string | undefined, given: string | undefined) => boolean): Partial<Handle> {
  return {
    swap(key, { expected, version, record }, { rows }) {
      const present = rows.get(key)?.version;
      if (!same(present, version) && !same(present, expected)) return false;
      rows.set(key, { record, version });
      return true;
    },
  };
}

const atomicity: Record<string, Mistake> = {
  'checks, then sets': {
    make: () => ({
      async swap(key, change, { rows }) {
        const present = rows.get(key)?.version;
        await turn();
        if (present !== change.expected && present !== change.version) return false;
        rows.set(key, change);
        return true;
      },
    }),
    caughtBy: [
      'of many swaps that create a record at once, one wins and is kept',
      'of many swaps from the same version at once, one wins and is kept',
      'many handles that add to one record lose nothing and invent nothing',
    ],
  },
  'writes without looking': {
    make: () => comparing(() => true),
    caughtBy: [
      'a swap that expects an older version is refused and changes nothing',
      'a swap that expects a version nobody wrote is refused and changes nothing',
      'a swap that expects no record is refused where there is one',
      'a swap that expects a record is refused where there is none',
      'a handle that saw an older version swaps nothing in over a newer one',
      'the swap that created the record brings nothing back after others went on',
      'a swap that replaced the record brings nothing back after others went on',
    ],
  },
  'takes any version where none is expected': {
    make: () => comparing((present, given) => given === undefined || present === given),
    caughtBy: [
      'a swap that expects no record is refused where there is one',
      'of many swaps that create a record at once, one wins and is kept',
    ],
  },
  'creates a record where one is expected': {
    make: () => comparing((present, given) => present === undefined || present === given),
    caughtBy: ['a swap that expects a record is refused where there is none'],
  },
  'shows an empty record where there is none': {
    make: () => ({ load: (key, { rows }) => rows.get(key) ?? { record: '', version: '' } }),
    caughtBy: ['a key that was never written has neither record nor version'],
    passes: 'a swap that expects an older version is refused and changes nothing',
  },
  'replaces nothing': {
    make: () => ({ swap: (key, change, server) => !server.rows.has(key) && rightHandle.swap(key, change, server, {}) }),
    caughtBy: ['a swap that expects the present version replaces record and version'],
  },
  'writes the record before it compares versions': {
    make: () => ({
      swap(key, change, server, options) {
        const row = server.rows.get(key);
        if (row) server.rows.set(key, { ...row, record: change.record });
        return rightHandle.swap(key, change, server, options);
      },
    }),
    caughtBy: [
      'a swap that expects an older version is refused and changes nothing',
      'a refused swap of a large record leaves a small one whole',
    ],
  },
  'writes version and record one after the other': {
    make: () => ({
      async swap(key, change, server, options) {
        const before = server.rows.get(key);
        if (!rightHandle.swap(key, change, server, options)) return false;
        server.rows.set(key, { version: change.version, record: before?.record ?? '' });
        await turn();
        server.rows.set(key, change);
        return true;
      },
    }),
    caughtBy: ['a load during swaps shows a record together with its own version'],
  },
};

const repetition: Record<string, Mistake> = {
  'refuses its own change when it is executed again': {
    make: () => ({
      swap(key, { expected, version, record }, { rows }) {
        if (rows.get(key)?.version !== expected) return false;
        rows.set(key, { record, version });
        return true;
      },
    }),
    caughtBy: [
      'the swap that created the record, executed again, reports success once more',
      'the swap that replaced the record, executed again, reports success once more',
      'one swap executed many times at once succeeds every time',
    ],
  },
  'remembers its own changes, and executes them again': {
    make: () => {
      const done = new Set<string>();
      return {
        swap(key, change, server, options) {
          const swapped = done.has(change.version) || rightHandle.swap(key, change, server, options);
          if (swapped === true) server.rows.set(key, change);
          done.add(change.version);
          return swapped;
        },
      };
    },
    caughtBy: [
      'the swap that created the record brings nothing back after others went on',
      'a swap that replaced the record brings nothing back after others went on',
    ],
  },
  'numbers the versions itself': {
    make: () => {
      const count = (row: Row | undefined) => `${Number(row?.version ?? 0) + 1}`;
      return {
        swap: (key, change, server, options) =>
          rightHandle.swap(key, { ...change, version: count(server.rows.get(key)) }, server, options),
      };
    },
    caughtBy: [
      'the first swap expects no record, and load shows what it brought',
      'a repeated swap stays one version: the next swap builds on it',
    ],
  },
};

const endurance: Record<string, Mistake> = {
  'acknowledges what only its own handle knows': {
    make: () => {
      const rows = new Map<string, Row>();
      return {
        load: (key) => rows.get(key),
        swap: (key, change, server, options) => rightHandle.swap(key, change, { ...server, rows }, options),
      };
    },
    caughtBy: [
      'what one handle swapped in, a handle opened before sees at once',
      'what one handle swapped in, a handle opened afterwards sees',
    ],
  },
  'forgets everything when it is closed': {
    make: () => ({ close: ({ rows }) => rows.clear() }),
    caughtBy: ['records are there after every handle was closed'],
  },
  'reads from a cache': {
    make: () => {
      const cache = new Map<string, Row | undefined>();
      return {
        load(key, { rows }) {
          if (!cache.has(key)) cache.set(key, rows.get(key));
          return cache.get(key);
        },
      };
    },
    caughtBy: ['what one handle swapped in, a handle opened before sees at once'],
  },
  'compares with the version in its cache': {
    make: () => {
      const cache = new Map<string, Row | undefined>();
      return {
        load(key, { rows }) {
          cache.set(key, rows.get(key));
          return rows.get(key);
        },
        swap(key, change, { rows }) {
          const present = (cache.get(key) ?? rows.get(key))?.version;
          if (present !== change.expected && present !== change.version) return false;
          cache.set(key, change);
          rows.set(key, change);
          return true;
        },
      };
    },
    caughtBy: [
      'a handle that saw an older version swaps nothing in over a newer one',
      'many handles that add to one record lose nothing and invent nothing',
    ],
  },
  'lets records expire after a day': {
    make: () => {
      const expiresAt = new Map<string, number>();
      return {
        load: (key, { rows }) => ((expiresAt.get(key) ?? 0) < Date.now() ? undefined : rows.get(key)),
        swap(key, change, server, options) {
          expiresAt.set(key, Date.now() + dayMs);
          return rightHandle.swap(key, change, server, options);
        },
      };
    },
    caughtBy: ['records do not expire'],
  },
  'keeps no more than fifty records': {
    make: () => ({
      swap(key, change, server, options) {
        const [oldest = ''] = server.rows.keys();
        if (server.rows.size >= 50) server.rows.delete(oldest);
        return rightHandle.swap(key, change, server, options);
      },
    }),
    caughtBy: ['one record is not dropped for a hundred others'],
  },
  'is durable for some': {
    make: () => ({ durability: nextOf(['durable', 'replicated'] as const) }),
    caughtBy: ['every handle says the same of its durability'],
  },
};

const clock: Record<string, Mistake> = {
  "tells its process's time": {
    make: () => ({ now: () => Date.now() }),
    caughtBy: ['load', 'swap', 'a refused swap'].map(
      (call) => `${call} reads a clock that does not follow this process's`,
    ),
  },
  'has a clock of its own in each handle': {
    make: () => {
      const aheadMs = nextOf([0, 3_600_000, 7_200_000, 10_800_000]);
      return { now: (server) => server.now() + aheadMs };
    },
    caughtBy: [
      ...['load', 'swap', 'a refused swap'].map((call) => `${call} reads the same clock through every handle`),
      'a store that is opened anew goes on with the same clock',
    ],
  },
  'tells seconds': {
    make: () => ({ now: (server) => Math.floor(server.now() / 1_000) }),
    caughtBy: ['load', 'swap', 'a refused swap'].map(
      (call) => `${call} tells the time in epoch milliseconds, with or without a record`,
    ),
  },
  'tells the time it was opened': {
    make: () => {
      let openedAt: number | undefined;
      return { now: (server) => (openedAt ??= server.now()) };
    },
    caughtBy: ['load', 'swap', 'a refused swap'].map(
      (call) => `${call} reads a clock that goes on at the pace of time`,
    ),
  },
};

const contents: Record<string, Mistake> = {
  'keeps one record for all keys': {
    make: () => renamingKeys(() => 'record'),
    caughtBy: ['keys are independent of each other'],
    passes: 'load reads a clock that goes on at the pace of time',
  },
  'does not tell upper from lower case': {
    make: () => renamingKeys((key) => key.toLowerCase()),
    caughtBy: [
      'keys that differ in case, spaces or accents are different keys',
      'keys without a common beginning are different keys',
    ],
  },
  'cuts spaces off keys': {
    make: () => renamingKeys((key) => key.trim()),
    caughtBy: ['keys that differ in case, spaces or accents are different keys'],
  },
  'does not tell apart two spellings of an accent': {
    make: () => renamingKeys((key) => key.normalize('NFC')),
    caughtBy: ['keys that differ in case, spaces or accents are different keys'],
  },
  'makes paths of keys': {
    make: () => renamingKeys((key) => new URL(`file:/records/${key}`).pathname),
    caughtBy: ['keys that differ in case, spaces or accents are different keys'],
  },
  'cuts keys at 128 characters': {
    make: () => renamingKeys((key) => key.slice(0, 128)),
    caughtBy: ['a key of 200 characters is told from one that differs in the last'],
  },
  'cuts records at 64 KiB': {
    make: () => alteringRecords((record) => record.slice(0, 65_536)),
    caughtBy: ['a record of 200,000 characters comes back as it was'],
  },
  'takes an empty record for none': {
    make: () => ({ load: (key, { rows }) => (rows.get(key)?.record ? rows.get(key) : undefined) }),
    caughtBy: ['an empty record comes back as it was'],
  },
  'cuts spaces off records': {
    make: () => alteringRecords((record) => record.trim()),
    caughtBy: ['a record with spaces at both ends comes back as it was'],
  },
  'keeps one byte for a character': {
    make: () => alteringRecords((record) => Buffer.from(record, 'latin1').toString('latin1')),
    caughtBy: ['a record of every script and of emoji comes back as it was'],
  },
  'rewrites line ends': {
    make: () => alteringRecords((record) => record.replace(/\r\n?/g, '\n')),
    caughtBy: ['a record of line ends and control characters comes back as it was'],
  },
  'resolves escapes': {
    make: () => alteringRecords((record) => record.replace(/\\(.)/g, '$1')),
    caughtBy: ['a record of quotes, backslashes and placeholders comes back as it was'],
  },
  'keeps what looks like a number as one': {
    make: () => alteringRecords((record) => (Number(record) ? `${Number(record)}` : record)),
    caughtBy: ['a record that looks like a number comes back as it was'],
  },
  'keeps what looks like JSON as such': {
    make: () =>
      alteringRecords((record) => (record.startsWith('{') ? JSON.stringify(JSON.parse(record), ['version']) : record)),
    caughtBy: ['a record that looks like JSON comes back as it was'],
  },
  'doubles a single character': {
    make: () => alteringRecords((record) => (record.length === 1 ? record + record : record)),
    caughtBy: ['a record of one character comes back as it was'],
  },
  'compares versions as numbers': {
    make: () => comparing((present, given) => present === given || Number(present) === Number(given)),
    caughtBy: ['versions are compared as strings'],
  },
};

const deadlines: Record<string, Mistake> = {
  'ignores its signal': {
    make: () => ({ begin: () => turn() }),
    caughtBy: [
      'a load whose signal was aborted beforehand rejects and does nothing',
      'a swap whose signal was aborted beforehand rejects and does nothing',
    ],
  },
  'never answers when it is aborted': {
    make: () => ({
      async begin(options) {
        options.signal?.throwIfAborted();
        await rightHandle.begin({});
        if (options.signal?.aborted) await new Promise(() => {});
      },
    }),
    caughtBy: [
      'a load aborted on its way ends promptly, and the store stays usable',
      'a swap aborted on its way ends promptly, and the store stays usable',
    ],
  },
  'goes on listening to its signal': {
    make: () => ({
      async begin(options) {
        await rightHandle.begin(options);
        options.signal?.addEventListener('abort', () => {});
      },
    }),
    caughtBy: ['a load leaves no listener on its signal', 'a swap leaves no listener on its signal'],
  },
  'takes back what is aborted after the answer': {
    make: () => ({
      swap(key, change, server, options) {
        options.signal?.addEventListener('abort', () => server.rows.delete(key));
        return rightHandle.swap(key, change, server, options);
      },
    }),
    caughtBy: ['a signal that is aborted after the answer changes nothing'],
  },
};

let turns = 0;
/** The next of these for every caller: what each handle has of its own. */
function nextOf<Value>(values: readonly Value[]): Value {
  turns += 1;
  return values[turns % values.length] as Value;
}

/** Stores that are wrong in one thing each. */
export const mistakes: Record<string, Mistake> = {
  ...atomicity,
  ...repetition,
  ...endurance,
  ...clock,
  ...contents,
  ...deadlines,
};
