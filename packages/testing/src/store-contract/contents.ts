import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  changeTo,
  type DefineCase,
  defaultMaxRecordBytes,
  expectKept,
  freshKey,
  largestRecord,
  write,
} from './fixture.ts';

const records: Record<string, string> = {
  'an empty record': '',
  'a record of one character': 'x',
  'a record of every script and of emoji': 'Grüße, Ελλάδα, Россия, 日本語, עברית, 👩‍👩‍👧‍👦 \u2028\u2029\ufeff\u00a0',
  'a record of quotes, backslashes and placeholders': `'"\`\\'' \\\\ \\n \\u0041 $1 \${x} %s {0} <&> -- /* ; drop table`,
  'a record of line ends and control characters': '\nfirst\r\nsecond\rthird\t\b\f\v\u0001\u001b[31m\u007f\n\n',
  'a record with spaces at both ends': '  \t spaces \t  ',
  'a record that looks like JSON': '{"version":"other","record":null,"__proto__":{"x":1}}',
  'a record that looks like a number': '0012345678901234567890.50e-1',
};

// Names that something on the way may take for one and the same, or for something else.
// Escaped: an editor that normalises would make one of the two spellings of an accent.
const confusable = [
  'key',
  'KEY',
  'Key',
  ' key',
  'key ',
  'key\n',
  '\u1e31ey',
  'k\u0301ey',
  'key.',
  'key.0',
  'key%00',
  'key*',
];
const special = [
  '../key',
  '/key',
  '\\key',
  'C:key',
  'CON',
  '{key}',
  '{key',
  'key}:other',
  "';--",
  '"key"',
  '$1',
  'ключ',
  '🔑',
];
const versions = [
  '0',
  '00',
  '-0',
  '1',
  '1.0',
  '1e0',
  'true',
  'null',
  'undefined',
  'NaN',
  'a b',
  'A',
  'a',
  "'",
  '"',
  '\\',
  'ü',
  '$1',
];

/** A store keeps strings as they are: keys, versions and records. */
export function contentCases(define: DefineCase): ContractCase[] {
  return [
    ...Object.entries(records).map(([what, record]) =>
      define(`${what} comes back as it was`, async ({ store, key, another }) => {
        const created = await write(store, key, record);
        await expectKept(await another(), key, created);
        const replaced = await write(store, key, `${record}.`, created);
        await expectKept(store, key, await write(store, key, record, replaced));
      }),
    ),

    define('the largest record that the store keeps comes back as it was', async ({ store, key, another }) => {
      const other = await another();
      const { maxRecordBytes = defaultMaxRecordBytes } = store;
      assert.ok(
        Number.isInteger(maxRecordBytes) && maxRecordBytes >= 3_000 && maxRecordBytes <= 4_000_000,
        `maxRecordBytes is ${maxRecordBytes}, and has to be a whole number of bytes from 3,000 to 4,000,000`,
      );
      assert.equal(other.maxRecordBytes, store.maxRecordBytes, 'another handle keeps records of another size');
      const largest = largestRecord(store);
      const created = await write(store, key, largest);
      await expectKept(other, key, created);
      const replaced = await write(store, key, 'small', created);
      await expectKept(store, key, await write(store, key, largest, replaced));
    }),

    define('a record above the largest is kept whole, or rejected without a trace', async ({ store, key, another }) => {
      const first = await write(store, key, 'small');
      const larger = changeTo(`${largestRecord(store)}${'.'.repeat(20_000)}`, first);
      const { swapped } = await store.swap(key, larger).catch(() => ({ swapped: false }));
      await expectKept(await another(), key, swapped ? larger : first);
    }),

    define('keys that differ in case, spaces or accents are different keys', async ({ store, key }) => {
      const keys = [...confusable, ...special].map((name) => `${key}/${name}`);
      const changes = [];
      for (const each of keys) {
        await expectKept(store, each);
        changes.push(await write(store, each, `kept under ${each}`));
      }
      for (const [index, each] of keys.entries()) await expectKept(store, each, changes[index]);
    }),

    define('keys without a common beginning are different keys', async ({ store, key }) => {
      const keys = [...confusable, ...special].map((name) => `${name}/${key}`);
      const changes = await Promise.all(keys.map((each) => write(store, each, `kept under ${each}`)));
      for (const [index, each] of keys.entries()) await expectKept(store, each, changes[index]);
    }),

    define('a key of 200 characters is told from one that differs in the last', async ({ store, key }) => {
      const long = key.padEnd(199, '-');
      const [first, second] = [await write(store, `${long}a`, 'a'), await write(store, `${long}b`, 'b')];
      await expectKept(store, `${long}a`, first);
      await expectKept(store, `${long}b`, second);
    }),

    define('versions are compared as strings', async ({ store, key }) => {
      let present: string | undefined;
      for (const version of versions) {
        const change = { expected: present, version, record: `version ${version}` };
        assert.equal((await store.swap(key, change)).swapped, true, `version ${version} was refused`);
        await expectKept(store, key, change);
        for (const other of versions.filter((each) => each !== version)) {
          const wrong = { expected: other, version: freshKey(), record: 'late' };
          assert.equal((await store.swap(key, wrong)).swapped, false, `${other} was taken for ${version}`);
        }
        present = version;
      }
    }),

    define('a refused swap of a large record leaves a small one whole', async ({ store, key }) => {
      const first = await write(store, key, 'small');
      await store.swap(key, changeTo(largestRecord(store), changeTo('never written')));
      await expectKept(store, key, first);
    }),
  ];
}
