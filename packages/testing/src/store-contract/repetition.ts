import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import { changeTo, type DefineCase, expectKept, write } from './bench.ts';

/** Clients resend what they got no answer to: a change executed twice is one change. */
export function repetitionCases(define: DefineCase): ContractCase[] {
  return [
    define('the swap that created the record, executed again, reports success once more', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      assert.equal((await store.swap(key, first)).swapped, true);
      await expectKept(store, key, first);
    }),

    define('the swap that replaced the record, executed again, reports success once more', async (bench) => {
      const { store, key } = bench;
      const second = await write(store, key, 'second', await write(store, key, 'first'));
      assert.equal((await store.swap(key, second)).swapped, true);
      assert.equal(
        (await (await bench.another()).swap(key, second)).swapped,
        true,
        'another handle reports a conflict',
      );
      await expectKept(store, key, second);
    }),

    define('one swap executed many times at once succeeds every time', async ({ store, key, another }) => {
      const stores = [store, await another()];
      const first = changeTo('first');
      const creations = await Promise.all([...stores, ...stores].map((each) => each.swap(key, first)));
      assert.deepEqual(
        creations.map(({ swapped }) => swapped),
        [true, true, true, true],
      );
      const second = changeTo('second', first);
      const replacements = await Promise.all([...stores, ...stores].map((each) => each.swap(key, second)));
      assert.deepEqual(
        replacements.map(({ swapped }) => swapped),
        [true, true, true, true],
      );
      await expectKept(store, key, second);
    }),

    define('a repeated swap stays one version: the next swap builds on it', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      await store.swap(key, first);
      await expectKept(store, key, await write(store, key, 'second', first));
    }),

    define('the swap that created the record brings nothing back after others went on', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      const second = await write(store, key, 'second', first);
      assert.equal((await store.swap(key, first)).swapped, false);
      await expectKept(store, key, second);
    }),

    define('a swap that replaced the record brings nothing back after others went on', async (bench) => {
      const { store, key } = bench;
      const other = await bench.another();
      const second = await write(store, key, 'second', await write(store, key, 'first'));
      const third = await write(other, key, 'third', second);
      assert.equal((await store.swap(key, second)).swapped, false);
      await expectKept(store, key, third);
      await expectKept(store, key, await write(other, key, 'fourth', third));
    }),
  ];
}
