import { beforeAll, describe, expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import { memoryScopes, quickMemoryScopes, quickScopes } from '../src/explore/scopes.ts';
import type { Found } from '../src/explore/search.ts';
import type { SearchTask } from '../src/mutants/search-worker.ts';

const worker = new URL('../src/mutants/search-worker.ts', import.meta.url);

async function searched(tasks: readonly SearchTask[]): Promise<Found[]> {
  const results = new Map<SearchTask, Found>();
  await inChildren(worker, tasks, (found: Found, task: SearchTask) => results.set(task, found));
  return tasks.flatMap((task) => results.get(task) ?? []);
}

test('every order of a few steps and one fault keeps the limit', { timeout: 900_000 }, async () => {
  const results = await searched(quickScopes.map((scope) => ({ scope, mutant: undefined })));
  expect(results.map(({ complete, broken }) => ({ complete, broken }))).toEqual(
    quickScopes.map(() => ({ complete: true, broken: undefined })),
  );
  expect(results.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThan(200_000);
});

test('every order of calls, answers, two faults and time keeps what a process promises by its memory', {
  timeout: 300_000,
}, async () => {
  const results = await searched(quickMemoryScopes.map((scope) => ({ scope, mutant: undefined })));
  expect(results.map(({ complete, broken }) => ({ complete, broken }))).toEqual(
    quickMemoryScopes.map(() => ({ complete: true, broken: undefined })),
  );
  expect(results.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThan(20_000);
});

// The search can fail: it finds each of these mutants, by a shortest way. All are searched at once, on all processors.
const [fleet, alone] = memoryScopes;
const controls = [
  ['refund on timeout', quickScopes[0], 'counted'],
  ['forgotten when it arrives', quickScopes[0], 'counted'],
  ['lock without a ledger', quickScopes[0], 'tokens within a window'],
  ['an unmeasured clock is believed', quickScopes[3], 'an expired token'],
  ['tokens of a clock that was ahead keep their expiry', quickScopes[3], 'an expired token'],
  ['a clock put right frees the budget', quickScopes[3], 'counted'],
  ['failures: deaths are not paced', quickScopes[4], 'a request after 2 deaths'],
  ['the first window decides', quickScopes[5], 'tokens within a window'],
  ['terms of others are ignored', quickScopes[6], 'tokens within a window'],
  ['a slow read brings an older token back', alone, 'a rejected token is served'],
  ['an older token outlives a reset', alone, 'a rejected token is served'],
  ['a read that found a reset vouches for the token', fleet, 'the fleet reset more than 30 seconds ago'],
  ['the record is never read again', fleet, 'the fleet reset more than 30 seconds ago'],
] as const;

describe('a mutant of the search', () => {
  let found: readonly Found[] = [];
  beforeAll(async () => {
    found = await searched(controls.flatMap(([mutant, scope]) => (scope ? [{ scope, mutant }] : [])));
  }, 900_000);

  test.each(controls.map(([mutant, , promise], index) => [mutant, promise, index] as const))(
    '%s is found',
    (_mutant, promise, index) => {
      expect(found[index]?.broken?.promise).toContain(promise);
      expect(found[index]?.broken?.way.length).toBeGreaterThan(3);
    },
  );
});
