import { memoryStore } from '@service-auth/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ContractCase, storeContract } from '../src/index.ts';
import { openReferenceStore } from './reference-store.ts';
import { mistakes, unrelated } from './store-mistakes.ts';

describe('the memory store', () => {
  const cases = storeContract(async () => {
    const store = memoryStore();
    return { store, another: async () => store, close: async () => {} };
  });
  for (const { name, run } of cases) test(name, run);
});

describe('a store without a mistake', () => {
  for (const { name, run } of storeContract(openReferenceStore())) test(name, run);
});

const names = storeContract(openReferenceStore()).map(({ name }) => name);
const caught = new Set<string>();

describe.each(Object.entries(mistakes))('a store that %s', (_, { make, caughtBy, passes = unrelated }) => {
  const failed: string[] = [];
  beforeAll(async () => {
    for (const [index, name] of names.entries()) {
      // A server of its own for each case: otherwise one case leaves behind what the next one fails on.
      const { run } = storeContract(openReferenceStore(make))[index] as ContractCase;
      await run().catch(() => failed.push(name));
    }
    for (const name of failed) caught.add(name);
  });

  test.each(caughtBy)('fails: %s', (name) => expect(failed).toContain(name));
  test(`passes: ${passes}`, () => {
    expect(names).toContain(passes);
    expect(failed).not.toContain(passes);
  });
});

describe('the suite', () => {
  test('names every case once, and starts nothing before a case is run', () => {
    let opened = 0;
    const cases = storeContract(async () => {
      opened += 1;
      return openReferenceStore()();
    });
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    expect(opened).toBe(0);
  });

  test('has no case that every mistake passes', () => {
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });

  test('leaves the Date of this process as it was', () => {
    expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(60_000);
    expect(Object.is(Date, new Date().constructor)).toBe(true);
  });
});
