import { beforeAll, describe, expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import { recordMutants } from '../src/mutants/records.ts';
import { scenarios } from '../src/scenarios/scenarios.ts';
import type { ScenarioTask } from '../src/scenarios/worker.ts';

const worker = new URL('../src/scenarios/worker.ts', import.meta.url);
const names = Object.keys(scenarios);
/** What docs/reliability.md says is not kept. */
const brokenToday = new Map([
  ['a clock that leaps forward frees no budget, whoever looks first', '169 of 150 tokens in a day'],
]);

describe('a scenario', () => {
  const broken = new Map<string, string>();
  beforeAll(async () => {
    const tasks: ScenarioTask[] = [
      ...names.map((scenario) => ({ scenario, mutant: undefined })),
      ...recordMutants.map(({ scenario, name }) => ({ scenario, mutant: name })),
    ];
    await inChildren(worker, tasks, (what: string, { scenario, mutant }) => broken.set(mutant ?? scenario, what));
  }, 120_000);

  test.each(names)('%s', (scenario) => {
    expect(broken.get(scenario)).toBe(brokenToday.get(scenario) ?? '');
  });

  test.each(recordMutants)('notices: $name', ({ name }) => {
    expect(broken.get(name)).toMatch(/./);
  });

  test('has a mutant that takes what it shows away', () => {
    const tried = new Set([...brokenToday.keys(), ...recordMutants.map(({ scenario }) => scenario)]);
    expect(names.filter((name) => !tried.has(name))).toEqual([]);
  });
});
