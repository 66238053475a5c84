import { beforeAll, describe, expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import { histories } from '../src/two-releases/histories.ts';
import type { HistoryTask } from '../src/two-releases/worker.ts';

const worker = new URL('../src/two-releases/worker.ts', import.meta.url);
const names = Object.keys(histories);

describe('a fleet of two releases', () => {
  const problems = new Map<string, string>();
  beforeAll(async () => {
    const tasks = names.map((history): HistoryTask => ({ history }));
    await inChildren(worker, tasks, (problem: string, { history }) => problems.set(history, problem));
  }, 120_000);

  test.each(names)('%s', (name) => {
    expect(problems.get(name)).toBe('');
  });
});
