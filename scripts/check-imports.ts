// The floors of the house: no circle of files or folders, and nobody imports what stands above or beside them.
// `node scripts/check-imports.ts <folder>` checks another tree.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { circlesIn, foldersOf } from './import-graph.ts';
import { importsOf } from './imports.ts';
import { type Entry, type Manifest, root, sourceCondition } from './packages.ts';

const top = resolve(process.argv[2] ?? root);

interface Floor {
  /** The files that the rule is for: paths from the root that begin like this. */
  readonly of: readonly string[];
  /** The files of this repository that they may import, themselves included. Default: all. */
  readonly only?: readonly string[];
  readonly never?: readonly string[];
}

const core = 'packages/core/src';
const ledger = `${core}/ledger/`;
const tools = 'tests/support/tools/';
// These functions know no I/O and no clock: the simulator, the search and the mutants rely on that.
const pure = [ledger, ...['memory', 'cached-token', 'access-token', 'instant'].map((name) => `${core}/${name}.ts`)];

const floors: readonly Floor[] = [
  { of: [ledger], only: [ledger] },
  { of: pure, only: pure },
  { of: [`${core}/`], only: [`${core}/`] },
  { of: ['packages/core/test/'], only: ['packages/core/', tools] },
  { of: ['packages/testing/src/'], only: ['packages/testing/src/', `${core}/`] },
  {
    of: ['packages/'],
    never: ['bench/', 'examples/', 'tests/protocol/', 'tests/leaks/', 'tests/chaos/', 'tests/soak/'],
  },
  { of: [tools], only: [tools] },
  { of: ['tests/support/fixtures/'], only: ['tests/support/', `${core}/`, 'packages/testing/src/'] },
  { of: ['packages/', 'tests/', 'bench/', 'examples/'], never: ['scripts/'] },
];

const files = filesOf(top);
const entries = entriesOf(files.filter((file) => basename(file) === 'package.json'));
const graph = new Map(files.filter((file) => /\.[cm]?[jt]s$/.test(file)).map((file) => [file, importedBy(file)]));

const problems = [
  ...circlesIn(graph).map((circle) => `${circle.join(' -> ')} is a circle of files.`),
  ...circlesIn(foldersOf(graph)).map((circle) => `${circle.join(' -> ')} is a circle of folders.`),
  ...[...graph].flatMap(([file, imported]) => [...imported].flatMap((other) => forbidden(file, other))),
];
// A rule for files that were moved would find nothing any more.
const guarded = floors.flatMap(({ of }) => of);
for (const place of new Set(guarded)) {
  if (!files.some((file) => file.startsWith(place))) problems.push(`${place} has a rule, but is not there.`);
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${graph.size} modules import each other in no circle, and only what they may.`);

function filesOf(folder: string): string[] {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', listed, { cwd: folder, encoding: 'utf8' }).split('\n');
  // Those that are deleted, but not yet committed, are listed too.
  return paths.filter((path) => path !== '' && existsSync(join(folder, path)));
}

function importedBy(file: string): Set<string> {
  const specifiers = importsOf(file, readFileSync(join(top, file), 'utf8')).map(({ from }) => from);
  return new Set(
    specifiers.flatMap((from) => (from.startsWith('.') ? join(dirname(file), from) : entryOf(from)) ?? []),
  );
}

/** The source of a package of this repository. */
function entryOf(specifier: string): string | undefined {
  const pattern = [...entries].find(([name]) => name.endsWith('/*') && specifier.startsWith(name.slice(0, -1)));
  return entries.get(specifier) ?? pattern?.[1].replace('*', specifier.slice(pattern[0].length - 1));
}

/** The sources of all packages of this repository, by the names under which they are imported. */
function entriesOf(manifests: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const path of manifests) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(top, path), 'utf8')) as Partial<Manifest>;
    for (const [subpath, entry] of Object.entries<Entry | string>(exports)) {
      const source = typeof entry === 'string' ? entry : entry[sourceCondition];
      if (source) found.set(`${name}${subpath.slice(1)}`, join(dirname(path), source));
    }
  }
  return found;
}

function forbidden(file: string, imported: string): string[] {
  const isIn = (places: readonly string[], path: string) => places.some((place) => path.startsWith(place));
  const broken = floors.find(
    ({ of, only, never }) => isIn(of, file) && ((only && !isIn(only, imported)) || (never && isIn(never, imported))),
  );
  if (!broken) return [];
  const rule = broken.only
    ? `may import only ${broken.only.join(', ')}`
    : `may never import ${broken.never?.join(', ')}`;
  return [`${file} imports ${imported}, but ${broken.of.join(', ')} ${rule}.`];
}
