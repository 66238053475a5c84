import type { OpenStore } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { breakingHandles, comparing, force, reading } from './handles.ts';

const carriedOut = /^a swap was carried out that had to be refused/;
const notOne = /^not exactly one swap/;

/** Stores that are wrong about what a swap replaces. */
export const versionMistakes: readonly Mistake<OpenStore>[] = [
  {
    name: 'loses updates: it reads the version first, and writes then',
    breaks: comparing((present, given) => present === given),
    caughtBy: {
      ...caught(
        notOne,
        'of many swaps that create a record at once, one wins and is kept',
        'of many swaps from the same version at once, one wins and is kept',
      ),
      'many handles that add to one record lose nothing and invent nothing': /^\d+ entries of 100 are kept/,
    },
  },
  {
    name: 'forgets the version in its swap',
    breaks: comparing(() => true),
    caughtBy: caught(
      carriedOut,
      'a swap that expects an older version is refused and changes nothing',
      'a swap that expects a version nobody wrote is refused and changes nothing',
      'a swap that expects no record is refused where there is one',
      'a swap that expects a record is refused where there is none',
      'a handle that saw an older version swaps nothing in over a newer one',
      'the swap that created the record brings nothing back after others went on',
      'a swap that replaced the record brings nothing back after others went on',
    ),
  },
  {
    name: 'shows an empty record where there is none',
    breaks: reading(({ record = '', version = '', now }) => ({ record, version, now })),
    caughtBy: caught(
      /^the store shows a record that nobody wrote/,
      'a key that was never written has neither record nor version',
    ),
  },
  {
    name: 'says that it swapped, whatever the number of changed rows is',
    breaks: breakingHandles(() => (right) => ({
      swap: async (key, change, options) => ({ ...(await right.swap(key, change, options)), swapped: true }),
    })),
    caughtBy: caught(
      carriedOut,
      'a swap that expects an older version is refused and changes nothing',
      'a swap that expects no record is refused where there is one',
    ),
  },
  {
    name: 'replaces nothing',
    breaks: breakingHandles(() => (right) => ({
      async swap(key, change, options) {
        if (change.expected === undefined) return right.swap(key, change, options);
        return { swapped: false, now: (await right.load(key, options)).now };
      },
    })),
    caughtBy: caught(
      /nothing stood against was refused/,
      'a swap that expects the present version replaces record and version',
    ),
  },
  {
    name: 'writes the record before it compares the version',
    breaks: breakingHandles(() => {
      const records = new Map<string, string>();
      return (right) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return snapshot.version === undefined ? snapshot : { ...snapshot, record: records.get(key) };
        },
        swap(key, change, options) {
          records.set(key, change.record);
          return right.swap(key, change, options);
        },
      });
    }),
    caughtBy: caught(
      /^the store changed the record/,
      'a swap that expects an older version is refused and changes nothing',
      'a refused swap of a large record leaves a small one whole',
    ),
  },
  {
    name: 'writes the version first, and the record then',
    breaks: breakingHandles(() => {
      const before = new Map<string, string | undefined>();
      return (right) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return before.has(key) ? { ...snapshot, record: before.get(key) } : snapshot;
        },
        async swap(key, change, options) {
          before.set(key, (await right.load(key, options)).record);
          const result = await right.swap(key, change, options);
          // Others read meanwhile.
          for (let count = 0; count < 5; count += 1) await right.load(key);
          before.delete(key);
          return result;
        },
      });
    }),
    caughtBy: caught(
      /record and version do not belong together/,
      'a load during swaps shows a record together with its own version',
    ),
  },
  {
    name: 'refuses its own change when it is executed again',
    breaks: breakingHandles(() => {
      const executed = new Set<string>();
      return (right) => ({
        async swap(key, change, options) {
          if (executed.has(change.version)) return { swapped: false, now: (await right.load(key, options)).now };
          executed.add(change.version);
          return right.swap(key, change, options);
        },
      });
    }),
    caughtBy: caught(
      /^a repeated swap was refused/,
      'the swap that created the record, executed again, reports success once more',
      'the swap that replaced the record, executed again, reports success once more',
      'one swap executed many times at once succeeds every time',
    ),
  },
  {
    name: 'remembers its own changes, and executes them again',
    breaks: breakingHandles(() => {
      const executed = new Set<string>();
      return (right) => ({
        async swap(key, change, options) {
          if (executed.has(change.version)) return force(right, key, change, options);
          const result = await right.swap(key, change, options);
          if (result.swapped) executed.add(change.version);
          return result;
        },
      });
    }),
    caughtBy: caught(
      carriedOut,
      'the swap that created the record brings nothing back after others went on',
      'a swap that replaced the record brings nothing back after others went on',
    ),
  },
  {
    name: 'numbers the versions itself',
    breaks: breakingHandles(() => (right) => ({
      async swap(key, change, options) {
        const { version = '0' } = await right.load(key, options);
        return right.swap(key, { ...change, version: `${Number(version) + 1}` }, options);
      },
    })),
    caughtBy: {
      ...caught(/^the store shows another version/, 'the first swap expects no record, and load shows what it brought'),
      ...caught(/nothing stood against was refused/, 'a repeated swap stays one version: the next swap builds on it'),
    },
  },
];
