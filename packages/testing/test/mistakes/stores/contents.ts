import { randomUUID } from 'node:crypto';
import type { OpenStore } from '../../../src/index.ts';
import { defaultMaxRecordBytes } from '../../../src/store-contract/fixture.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { breakingHandles, comparing, reading, underOtherKeys, writing } from './handles.ts';

function renamingKeys(rename: (key: string) => string): (open: OpenStore) => OpenStore {
  return breakingHandles(() => (right) => underOtherKeys(right, rename));
}

/** Cuts records off. */
function truncating(at: (maxRecordBytes: number) => number): (open: OpenStore) => OpenStore {
  return breakingHandles(() => (right) => {
    const length = at(right.maxRecordBytes ?? defaultMaxRecordBytes);
    return {
      swap: (key, change, options) => right.swap(key, { ...change, record: change.record.slice(0, length) }, options),
    };
  });
}

const comesBack = (what: string): Record<string, RegExp> =>
  caught(/^the store (changed|truncated) the record/, `${what} comes back as it was`);
const similarKeys = caught(
  /^the store shows (another version|a record that nobody wrote)/,
  'keys that differ in case, spaces or accents are different keys',
);

/** Stores that change keys, records or versions. */
export const contentMistakes: readonly Mistake<OpenStore>[] = [
  {
    name: 'keeps one record for all keys',
    breaks: breakingHandles(() => {
      const key = randomUUID();
      return (right) => underOtherKeys(right, () => key);
    }),
    caughtBy: caught(/nothing stood against was refused/, 'keys are independent of each other'),
  },
  {
    name: 'does not tell upper from lower case in keys',
    breaks: renamingKeys((key) => key.toLowerCase()),
    caughtBy: {
      ...similarKeys,
      ...caught(/nothing stood against was refused/, 'keys without a common beginning are different keys'),
    },
  },
  { name: 'cuts spaces off keys', breaks: renamingKeys((key) => key.trim()), caughtBy: similarKeys },
  {
    name: 'does not tell apart two spellings of an accent',
    breaks: renamingKeys((key) => key.normalize('NFC')),
    caughtBy: similarKeys,
  },
  {
    name: 'makes paths of keys',
    breaks: renamingKeys((key) => new URL(`file:/records/${key}`).pathname),
    caughtBy: similarKeys,
  },
  {
    name: 'truncates keys at 128 characters',
    breaks: renamingKeys((key) => key.slice(0, 128)),
    caughtBy: caught(
      /nothing stood against was refused/,
      'a key of 200 characters is told from one that differs in the last',
    ),
  },
  {
    name: 'truncates records at 64 kB, or below the size that it states',
    breaks: truncating((maxRecordBytes) => Math.min(65_536, maxRecordBytes - 1)),
    caughtBy: {
      ...caught(
        /^the store truncated the record: it keeps \d+ characters of \d+/,
        'the largest record that the store keeps comes back as it was',
        'a record above the largest is kept whole, or rejected without a trace',
      ),
    },
  },
  {
    name: 'truncates only what is larger than it states',
    breaks: truncating((maxRecordBytes) => maxRecordBytes),
    caughtBy: caught(
      /^the store truncated the record/,
      'a record above the largest is kept whole, or rejected without a trace',
    ),
  },
  {
    name: 'states its size in kilobytes',
    breaks: breakingHandles(() => () => ({ maxRecordBytes: 400 })),
    caughtBy: caught(/^maxRecordBytes is 400/, 'the largest record that the store keeps comes back as it was'),
  },
  {
    name: 'takes an empty record for none',
    breaks: reading((snapshot) => (snapshot.record ? snapshot : { now: snapshot.now })),
    caughtBy: caught(/^the store shows no record/, 'an empty record comes back as it was'),
  },
  {
    name: 'cuts spaces off records',
    breaks: writing((record) => record.trim()),
    caughtBy: comesBack('a record with spaces at both ends'),
  },
  {
    name: 'keeps one byte for a character',
    breaks: writing((record) => Buffer.from(record, 'latin1').toString('latin1')),
    caughtBy: comesBack('a record of every script and of emoji'),
  },
  {
    name: 'rewrites line ends',
    breaks: writing((record) => record.replace(/\r\n?/g, '\n')),
    caughtBy: comesBack('a record of line ends and control characters'),
  },
  {
    name: 'resolves escapes',
    breaks: writing((record) => record.replace(/\\(.)/g, '$1')),
    caughtBy: comesBack('a record of quotes, backslashes and placeholders'),
  },
  {
    name: 'keeps what looks like a number as a number',
    breaks: writing((record) => (Number(record) ? `${Number(record)}` : record)),
    caughtBy: comesBack('a record that looks like a number'),
  },
  {
    name: 'parses what looks like JSON',
    breaks: writing((record) => (record.startsWith('{') ? JSON.stringify(JSON.parse(record), ['version']) : record)),
    caughtBy: comesBack('a record that looks like JSON'),
  },
  {
    name: 'doubles a single character',
    breaks: writing((record) => (record.length === 1 ? record + record : record)),
    caughtBy: comesBack('a record of one character'),
  },
  {
    name: 'compares versions as numbers',
    breaks: comparing((present, given) => present === given || Number(present) === Number(given)),
    caughtBy: caught(/was taken for/, 'versions are compared as strings'),
  },
];
