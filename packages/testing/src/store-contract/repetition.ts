import type { ContractCase } from '../contract/contract-case.ts';
import { changeTo, type DefineCase, expectKept, expectRefusal, expectRepeatable, write } from './fixture.ts';

/** Clients resend what they got no answer to: a change executed twice is one change. */
export function repetitionCases(define: DefineCase): ContractCase[] {
  return [
    define('the swap that created the record, executed again, reports success once more', async ({ store, key }) => {
      const first = await write(store, key, 'first');
      await expectRepeatable(store, key, first);
      await expectKept(store, key, first);
    }),

    define('the swap that replaced the record, executed again, reports success once more', async (fixture) => {
      const { store, key } = fixture;
      const second = await write(store, key, 'second', await write(store, key, 'first'));
      await expectRepeatable(store, key, second);
      await expectRepeatable(await fixture.another(), key, second);
      await expectKept(store, key, second);
    }),

    define('one swap executed many times at once succeeds every time', async ({ store, key, another }) => {
      const stores = [store, await another()];
      const first = changeTo('first');
      await Promise.all([...stores, ...stores].map((each) => expectRepeatable(each, key, first)));
      const second = changeTo('second', first);
      await Promise.all([...stores, ...stores].map((each) => expectRepeatable(each, key, second)));
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
      await expectRefusal(store, key, first);
      await expectKept(store, key, second);
    }),

    define('a swap that replaced the record brings nothing back after others went on', async (fixture) => {
      const { store, key } = fixture;
      const other = await fixture.another();
      const second = await write(store, key, 'second', await write(store, key, 'first'));
      const third = await write(other, key, 'third', second);
      await expectRefusal(store, key, second);
      await expectKept(store, key, third);
      await expectKept(store, key, await write(other, key, 'fourth', third));
    }),
  ];
}
