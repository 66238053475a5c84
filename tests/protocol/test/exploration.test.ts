import { expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import { quickScopes } from '../src/explore/scopes.ts';
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

// The search can fail: each is found, by a shortest way.
test.each([
  ['refund on timeout', 'counted'],
  ['forgotten when it arrives', 'counted'],
  ['lock without a ledger', 'tokens within a window'],
])(
  '%s is found',
  async (mutant, promise) => {
    const [found] = await searched(quickScopes.slice(0, 1).map((scope) => ({ scope, mutant })));
    expect(found?.broken?.promise).toContain(promise);
    expect(found?.broken?.way.length).toBeGreaterThan(3);
  },
  300_000,
);
