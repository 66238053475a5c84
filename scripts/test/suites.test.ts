import { expect, test } from 'vitest';
import { faultsOf, type Plan } from '../suites.ts';

const plan: Plan = {
  files: ['a.test.ts', 'b.test.ts'],
  projects: new Map([
    ['quick core', ['a.test.ts']],
    ['servers', ['b.test.ts']],
    ['compat older', ['a.test.ts']],
  ]),
  commands: {
    test: ['vitest', 'run', '--project=quick*'],
    servers: ['vitest', 'run', '--project=servers'],
    compat: ['vitest', 'run', '--project=compat*'],
    coverage: ['vitest', 'run', '--coverage', '--project=quick core'],
  },
};
const { servers: _, ...withoutServers } = plan.commands;
const including = (project: string, ...files: string[]) => new Map(plan.projects).set(project, files);

test('a repository whose test files all run once has no fault', () => {
  expect(faultsOf(plan)).toEqual([]);
});

test.each<[string, Partial<Plan>, string]>([
  ['a file in no project', { files: [...plan.files, 'c.test.ts'] }, 'c.test.ts is in none'],
  [
    'a file that only older dependencies run',
    { projects: including('quick core', 'c.test.ts') },
    'a.test.ts is in none',
  ],
  [
    'a file in two projects',
    { projects: including('servers', 'a.test.ts', 'b.test.ts') },
    'a.test.ts is in "quick core" and "servers"',
  ],
  ['a project without files', { projects: including('quick light') }, 'the project "quick light" finds no file'],
  ['a project that no check runs', { commands: withoutServers }, 'the project "servers" runs in none'],
  [
    'a project that two checks run',
    { commands: { ...plan.commands, all: ['vitest', 'run', '--project=servers'] } },
    'the project "servers" runs in servers and all',
  ],
])('%s is a fault', (_name, change, fault) => {
  expect(faultsOf({ ...plan, ...change })).toContain(fault);
});
