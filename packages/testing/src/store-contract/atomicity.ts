import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Store } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { changeTo, type DefineCase, expectKept, expectRefusal, type Fixture, freshKey, write } from './fixture.ts';

/** The store and three more handles, as four processes would have them. */
async function handles({ store, another }: Fixture): Promise<Store[]> {
  return [store, ...(await Promise.all([another(), another(), another()]))];
}

// When four handles try at the same time, one of them succeeds. A store that denies so many swaps
// denies all of them.
const attempts = 1_000;

/** Adds `entry` to the list that the record is, however often others come first. */
async function append(store: Store, key: string, entry: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const seen = await store.load(key);
    const change = changeTo(JSON.stringify([...JSON.parse(seen.record ?? '[]'), entry]), seen);
    if ((await store.swap(key, change)).swapped) return;
  }
  assert.fail(`${attempts} swaps in a row were refused`);
}

/** A swap replaces one version by the next, for one caller only. */
export function atomicityCases(define: DefineCase): ContractCase[] {
  return [
    define('a key that was never written has neither record nor version', async ({ store, key }) => {
      await expectKept(store, key);
    }),

    define('the first swap expects no record, and load shows what it brought', async ({ store, key }) => {
      await expectKept(store, key, await write(store, key, 'first'));
    }),

    define('a swap that expects the present version replaces record and version', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      const second = await write(store, key, 'second', first);
      await expectKept(store, key, await write(store, key, 'third', second));
    }),

    define('a swap that expects an older version is refused and changes nothing', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      const second = await write(store, key, 'second', first);
      await expectRefusal(store, key, changeTo('late', first));
      await expectKept(store, key, second);
    }),

    define('a swap that expects a version nobody wrote is refused and changes nothing', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      await expectRefusal(store, key, changeTo('late', changeTo('never written')));
      await expectKept(store, key, first);
    }),

    define('a swap that expects no record is refused where there is one', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      await expectRefusal(store, key, changeTo('also first'));
      await expectKept(store, key, first);
    }),

    define('a swap that expects a record is refused where there is none', async ({ store, key }) => {
      await expectRefusal(store, key, changeTo('late', changeTo('never written')));
      await expectKept(store, key);
    }),

    define('of many swaps that create a record at once, one wins and is kept', async (fixture) => {
      const stores = await handles(fixture);
      const contenders = Array.from({ length: 40 }, (_, index) => changeTo(`contender ${index}`));
      const results = await Promise.all(
        contenders.map((change, index) => (stores[index % stores.length] as Store).swap(fixture.key, change)),
      );
      const winners = contenders.filter((_, index) => results[index]?.swapped);
      assert.equal(winners.length, 1, 'not exactly one swap created the record');
      for (const store of stores) await expectKept(store, fixture.key, winners[0]);
    }),

    define('of many swaps from the same version at once, one wins and is kept', async (fixture) => {
      const stores = await handles(fixture);
      let kept = await write(fixture.store, fixture.key, 'first');
      for (let round = 0; round < 5; round += 1) {
        const contenders = Array.from({ length: 12 }, (_, index) => changeTo(`contender ${index}`, kept));
        const results = await Promise.all(
          contenders.map((change, index) => (stores[index % stores.length] as Store).swap(fixture.key, change)),
        );
        const winners = contenders.filter((_, index) => results[index]?.swapped);
        assert.equal(winners.length, 1, 'not exactly one swap replaced the version');
        [kept] = winners as [typeof kept];
        for (const store of stores) await expectKept(store, fixture.key, kept);
      }
    }),

    define('many handles that add to one record lose nothing and invent nothing', async (fixture) => {
      const stores = await handles(fixture);
      const entries = stores.map(() => Array.from({ length: 25 }, () => randomUUID()));
      await Promise.all(
        stores.map(async (store, index) => {
          for (const entry of entries[index] ?? []) await append(store, fixture.key, entry);
        }),
      );
      const { record } = await fixture.store.load(fixture.key);
      const kept = JSON.parse(record ?? '[]').sort();
      assert.deepEqual(kept, entries.flat().sort(), `${kept.length} entries of ${entries.flat().length} are kept`);
    }),

    define('a load during swaps shows a record together with its own version', async ({ store, key, another }) => {
      const reader = await another();
      const recordOf = (version: string) => `brought by ${version} `.repeat(200);
      let writing = true;
      async function write(): Promise<void> {
        let expected: string | undefined;
        for (let count = 0; count < 30; count += 1) {
          const version = randomUUID();
          await store.swap(key, { expected, version, record: recordOf(version) });
          expected = version;
        }
        writing = false;
      }
      async function read(): Promise<void> {
        while (writing) {
          const { record, version } = await reader.load(key);
          assert.equal(record, version && recordOf(version), 'record and version do not belong together');
        }
      }
      await Promise.all([write(), read()]);
    }),

    define('keys are independent of each other', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      const keys = Array.from({ length: 20 }, freshKey);
      const changes = await Promise.all(keys.map((each) => write(store, each, `kept under ${each}`)));
      await expectKept(store, key, first);
      for (const [index, each] of keys.entries()) await expectKept(store, each, changes[index]);
    }),
  ];
}
