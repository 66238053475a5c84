import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(read(`${folder}/package.json`)) as Manifest;
const page = read('docs/http-clients.md');
const clients = manifestOf('tests/compat/http-clients').dependencies ?? {};
const nests = [manifestOf('tests/compat/nest-10'), manifestOf('tests/compat/nest-11'), manifestOf('packages/nestjs')];
const [, newestAxios = ''] = /^ {2}axios: (\S+)$/m.exec(read('pnpm-workspace.yaml')) ?? [];

/** The installed versions of a package, under all the names that it has. */
function installed(name: string): string[] {
  const names = Object.keys(clients).filter((each) => each === name || each.startsWith(`${name}-`));
  return names.map((each) => versionOf(clients[each])).toSorted();
}

const versionOf = (range = ''): string => (range === 'catalog:' ? newestAxios : range.replace(/^.*@/, ''));

function withNest(name: string): string[] {
  return nests.map(({ dependencies, devDependencies }) => versionOf({ ...devDependencies, ...dependencies }[name]));
}

/** The versions in the second column of a row. */
function versionsIn(row: RegExp): string[] {
  const [, cell = ''] = row.exec(page) ?? [];
  return (cell.match(/\d+\.\d+\.\d+/g) ?? []).toSorted();
}

test.each([
  ['axios', /^\| axios, as ESM and CommonJS \| ([^|]*)/m],
  ['got', /^\| got \| (\d[^|]*)/m],
  ['undici', /^\| undici \| (\d[^|]*)/m],
])('the page names the versions of %s that pass the contract', (name, row) => {
  expect(versionsIn(row)).toEqual(installed(name));
});

test('the page names the versions of fetch and of Nest that pass the contract', () => {
  const fetches = [...installed('node-fetch'), versionOf(clients['undici']), versionOf(clients['undici-oldest'])];
  expect(versionsIn(/^\| fetch \| (Node[^|]*)/m)).toEqual(fetches.toSorted());
  const nest = [...withNest('@nestjs/common'), ...withNest('@nestjs/axios')];
  expect(versionsIn(/^\| the `HttpService` of Nest \| ([^|]*)/m)).toEqual(nest.toSorted());
});

test.each([
  ['axios', 'axios, 1.17 or newer'],
  ['got', 'got, 14.5 to 16'],
  ['undici', "undici's `request` and its agents, 6.18.2 to 8"],
])('the page says which versions of %s npm installs our package with', (name, words) => {
  const range = manifestOf(`packages/${name}`).peerDependencies?.[name] ?? '';
  const [, oldest] = /^(?:\^|>=)([\d.]+?)(?:\.0)?( |$)/.exec(range) ?? [];
  const newest = /<(\d+)$/.exec(range)?.[1];
  const last = newest ? Number(newest) - 1 : /\|\| \^(\d+)\.0\.0$/.exec(range)?.[1];
  expect(words).toContain(last ? `${oldest} to ${last}` : `${oldest} or newer`);
  expect(page).toContain(`| ${words} |`);
});

test('the page of Nest says which packages of Nest go with which version, as they are tested', () => {
  const rows = [...read('packages/nestjs/README.md').matchAll(/^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
  const majors = ['common', 'axios', 'config', 'terminus'].map((name) =>
    withNest(`@nestjs/${name}`).map((version) => version.split('.')[0]),
  );
  expect(rows.map(([, ...cells]) => cells)).toEqual(nests.map((_, index) => majors.map((each) => each[index])));
});
