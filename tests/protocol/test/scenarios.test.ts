import { createServiceAuth } from '@service-auth/core';
import { expect, test } from 'vitest';
import { mutants } from '../src/mutants/load.ts';
import { scenarios } from '../src/scenarios/scenarios.ts';

test.each(Object.entries(scenarios))('%s', { timeout: 60_000 }, async (_, scenario) => {
  expect(await scenario(createServiceAuth)).toBeUndefined();
});

// `mutants.test.ts` tries whether the scenario notices.
test('each scenario has a mutant that takes what it shows away', () => {
  const tried = new Set(mutants.map(({ scenario }) => scenario));
  expect(Object.keys(scenarios).filter((name) => !tried.has(name))).toEqual([]);
});
