import { expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import { memoryScopes, quickMemoryScopes, quickScopes } from '../src/explore/scopes.ts';
import type { Found } from '../src/explore/search.ts';
import type { SearchTask } from '../src/mutants/search-worker.ts';

const worker = new URL('../src/mutants/search-worker.ts', import.meta.url);

async function searched(tasks: readonly SearchTask[]): Promise<Found[]> {
  const results: Found[] = [];
  await inChildren(worker, tasks, (found: Found) => results.push(found));
  return results;
}

test('every order of a few steps and one fault keeps the limit', { timeout: 900_000 }, async () => {
  const results = await searched(quickScopes.map((scope) => ({ scope, mutant: undefined })));
  expect(results.map(({ complete, broken }) => ({ complete, broken }))).toEqual(
    quickScopes.map(() => ({ complete: true, broken: undefined })),
  );
  expect(results.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThan(100_000);
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

// The search can fail: each is found, by a shortest way.
test.each([
  ['refund on timeout', 'counted', 0],
  ['forgotten when it arrives', 'counted', 0],
  ['lock without a ledger', 'tokens within a window', 0],
  ['an unmeasured clock is believed', 'an expired token', 3],
  ['tokens of a clock that was ahead keep their expiry', 'an expired token', 3],
  ['a clock put right frees the budget', 'counted', 3],
  ['deaths are not paced', 'a request after 2 deaths', 4],
])(
  '%s is found',
  async (mutant, promise, scope) => {
    const [found] = await searched(quickScopes.slice(scope, scope + 1).map((scope) => ({ scope, mutant })));
    expect(found?.broken?.promise).toContain(promise);
    expect(found?.broken?.way.length).toBeGreaterThan(3);
  },
  300_000,
);

const [fleet, alone] = memoryScopes;
test.each([
  ['a slow read brings an older token back', alone, 'a rejected token is served'],
  ['an older token outlives a reset', alone, 'a rejected token is served'],
  ['a read that found a reset vouches for the token', fleet, 'the fleet reset more than 30 seconds ago'],
  ['the record is never read again', fleet, 'the fleet reset more than 30 seconds ago'],
] as const)(
  '%s is found',
  async (mutant, scope, promise) => {
    const results = await searched(scope ? [{ scope, mutant }] : []);
    expect(results.map(({ broken }) => broken?.promise)).toEqual([expect.stringContaining(promise)]);
  },
  300_000,
);
