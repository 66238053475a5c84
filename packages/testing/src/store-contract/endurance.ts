import assert from 'node:assert/strict';
import type { Store } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { within } from '../contract/within.ts';
import { changeTo, type DefineCase, expectKept, expectRefusal, freshKey, write } from './fixture.ts';

// Real time, and only for a store that never answers.
const deadlineMs = 2_000;
const closedMs = 30_000;
const lostByOpen =
  'the record is gone: this case called close(), and open() a second time, which must open the same records and not an empty store';
const durabilities: Readonly<Record<Store['durability'], true>> = { process: true, durable: true, replicated: true };
const tenYearsMs = 10 * 365 * 86_400_000;

/** The store keeps every write that it acknowledged, and every handle sees it. */
export function enduranceCases(define: DefineCase): ContractCase[] {
  return [
    define('what one handle swapped in, a handle opened before sees at once', async ({ store, key, another }) => {
      const other = await another();
      await expectKept(other, key);
      const first = await write(store, key, 'first');
      await expectKept(other, key, first);
      await expectKept(store, key, await write(other, key, 'second', first));
    }),

    define('what one handle swapped in, a handle opened afterwards sees', async ({ store, key, another }) => {
      const first = await write(store, key, 'first');
      await expectKept(await another(), key, first);
    }),

    define('a handle that saw an older version swaps nothing in over a newer one', async ({ store, key, another }) => {
      const other = await another();
      const first = await write(store, key, 'first');
      await expectKept(other, key, first);
      const second = await write(store, key, 'second', first);
      await expectRefusal(other, key, changeTo('late', first));
      await expectKept(other, key, second);
    }),

    define('records are there after close(), when open() is called a second time', async (fixture) => {
      const { store, key, another, reopen } = fixture;
      const change = await write(store, key, 'second', await write(store, key, 'first'));
      // A store of durability `process` promises nothing beyond its own handle.
      if (store.durability === 'process') return void (await expectKept(await another(), key, change));
      const reopened = await reopen();
      if ((await reopened.load(key)).version === undefined) assert.fail(lostByOpen);
      await expectKept(reopened, key, change);
    }),

    define('a handle that is closed rejects, or works on: it never shows less than it kept', async (fixture) => {
      const { store, key } = fixture;
      const change = await write(store, key, 'first');
      // This calls close(), and open() a second time.
      await fixture.reopen();
      // Some clients queue calls for ever. Core ends them.
      const outcome = store.load(key, { signal: AbortSignal.timeout(deadlineMs) }).then(
        () => expectKept(store, key, change),
        () => undefined,
      );
      await within(outcome, 'a load of a closed handle', closedMs);
    }),

    define('every handle says the same of its durability', async ({ store, another }) => {
      assert.ok(Object.hasOwn(durabilities, store.durability), 'durability is not one of the three');
      assert.equal((await another()).durability, store.durability, 'another handle has another durability');
    }),

    define('records do not expire', async ({ store, key, clock, another }) => {
      const change = await write(store, key, 'second', await write(store, key, 'first'));
      clock.step(tenYearsMs);
      await expectKept(store, key, change);
      await expectKept(await another(), key, change);
    }),

    define('one record is not dropped for a hundred others', async ({ store, key }) => {
      const change = await write(store, key, 'first');
      await Promise.all(Array.from({ length: 100 }, () => write(store, freshKey(), 'x'.repeat(1_000))));
      await expectKept(store, key, change);
    }),
  ];
}
