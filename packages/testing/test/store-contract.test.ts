import { memoryStore } from '@service-auth/core';
import { describe, expect, test } from 'vitest';
import { type OpenStore, storeContract } from '../src/index.ts';
import { storeMistakes } from './mistakes/store-mistakes.ts';
import { referenceStore } from './reference-store.ts';
import { controls } from './support/controls.ts';

const openMemoryStore: OpenStore = async ({ clock }) => {
  const store = memoryStore({ clock });
  return { store, another: async () => store, close: async () => {} };
};
const openReferenceStore = referenceStore();
/** The contract takes seconds to notice these mistakes, and does nothing meanwhile. */
const areAwaited = /tells the time (at|of)|never answers/;

describe('the memory store', () => {
  for (const { name, run } of storeContract(openMemoryStore)) test(name, run);
});

describe('a right store', () => {
  for (const { name, run } of storeContract(openReferenceStore)) test(name, run);
  const all = controls(storeContract, openReferenceStore, storeMistakes);
  for (const { name, run } of all.filter(({ name }) => !areAwaited.test(name))) test(name, { timeout: 20_000 }, run);
  for (const { name, run } of all.filter(({ name }) => areAwaited.test(name)))
    test.concurrent(name, { timeout: 20_000 }, run);
});

// The mistakes are those that another kind of store could hide.
for (const [store, open, mistakes] of [
  ['a right store that keeps 20 kB', referenceStore({ maxRecordBytes: 20_000 }), /truncates|size/],
  [
    'a right store with the clocks of servers, in whole seconds',
    referenceStore({ isCoarse: true }),
    /servers|two clocks/,
  ],
] as const) {
  describe(store, () => {
    const likely = storeMistakes.filter(({ name }) => mistakes.test(name));
    for (const { name, run } of storeContract(open)) test(name, run);
    for (const { name, run } of controls(storeContract, open, likely)) test(name, { timeout: 20_000 }, run);
  });
}

describe('storeContract', () => {
  test('names every case once, and starts nothing before a case is run', () => {
    let opened = 0;
    const cases = storeContract(async (context) => {
      opened += 1;
      return openReferenceStore(context);
    });
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    expect(opened).toBe(0);
  });

  test('has no case that no mistake is caught by', () => {
    const caught = new Set(storeMistakes.flatMap(({ caughtBy }) => Object.keys(caughtBy)));
    const names = storeContract(openReferenceStore).map(({ name }) => name);
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });
});
