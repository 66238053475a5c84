import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { checks } from '../checks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The files that each project of Vitest finds. */
const projects = new Map<string, string[]>();

beforeAll(() => {
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const argv = [vitest, 'list', '--filesOnly', '--json'];
  const listed = execFileSync(process.execPath, argv, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, VITEST: '' },
  });
  for (const { file, projectName } of JSON.parse(listed) as { file: string; projectName: string }[])
    projects.set(projectName, [...(projects.get(projectName) ?? []), relative(root, file)]);
}, 60_000);

test('each test file runs in one project, besides those that run it again with older dependencies', () => {
  const tracked = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '*.test.ts'];
  const files = execFileSync('git', tracked, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const found = [...projects].filter(([name]) => !name.startsWith('compat ')).flatMap(([, its]) => its);
  expect(found.toSorted()).toEqual(files.toSorted());
});

test('each project runs in one check, and no check names a project that is not there', () => {
  const commands = Object.values(checks).map(({ run, runAtNight = run }) => runAtNight);
  const scripts = ['tests/packed/command-line.ts', 'docs/check-site.ts'];
  const asked = commands
    .flat()
    .filter((argument) => argument.startsWith('--project='))
    .map((argument) => argument.slice('--project='.length));
  expect(commands.flat()).toEqual(expect.arrayContaining(scripts));
  const all = [...asked, 'command-line', 'site'];
  const isRunBy = (pattern: string, project: string) =>
    pattern.endsWith('*') ? project.startsWith(pattern.slice(0, -1)) : project === pattern;
  for (const project of projects.keys())
    expect([project, all.filter((pattern) => isRunBy(pattern, project)).length]).toEqual([project, 1]);
  for (const pattern of all)
    expect([pattern, [...projects.keys()].some((name) => isRunBy(pattern, name))]).toEqual([pattern, true]);
});

test.each([
  ['ci', Object.entries(checks).filter(([, { night }]) => !night)],
  ['night', Object.entries(checks).filter(([, { night, runAtNight }]) => night || runAtNight)],
] as const)('the workflow %s has a job for each of its checks', (workflow, its) => {
  const text = readFileSync(new URL(`../../.github/workflows/${workflow}.yml`, import.meta.url), 'utf8');
  const jobs = [...text.matchAll(/^ {10}- ([a-z -]+)$/gm)].flatMap(([, names = '']) => names.split(' '));
  expect(jobs).toEqual(expect.arrayContaining(its.map(([name]) => name)));
  expect(Object.keys(checks)).toEqual(expect.arrayContaining(jobs));
});

test('each folder of older dependencies has a project', () => {
  const older = globSync('tests/compat/*/package.json', { cwd: root }).map((file) => basename(dirname(file)));
  expect([...projects.keys()]).toEqual(expect.arrayContaining(older.map((name) => `compat ${name}`)));
});

test.each(['typos', '--without typos', 'typos --list'])('a name of no check is an error: %s', (line) => {
  const script = fileURLToPath(new URL('../check.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, ...line.split(' ')], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^No such check: typos\. There are: test, build, /)]);
});
