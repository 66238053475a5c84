// Every test file runs in exactly one of `pnpm test` and the other checks. `pnpm check suites`
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { createVitest } from 'vitest/node';
import { root } from './packages.ts';
import { steps } from './steps.ts';
import { faultsOf } from './suites.ts';

// Jest runs the tests of examples/jest, in `check frameworks`.
const tracked = ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'];
const files = execFileSync('git', tracked, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);

const vitest = await createVitest('test', { root, watch: false });
const found = await vitest.globTestSpecifications();
const filesOf = (name: string) =>
  found.filter(({ project }) => project.name === name).map(({ moduleId }) => relative(root, moduleId));
const projects = new Map(vitest.projects.map(({ name }) => [name, filesOf(name)]));
await vitest.close();

// The tests with older dependencies run again those of the packages.
const older = globSync('tests/compat/*/package.json', { cwd: root }).map((file) => `compat ${basename(dirname(file))}`);
const missing = older.filter((name) => !projects.has(name)).map((name) => `no project is called "${name}"`);
const faults = missing.concat(faultsOf({ files, projects, commands: steps }));
for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${files.length} test files in ${projects.size} projects.`);
process.exitCode = faults.length === 0 ? 0 : 1;
