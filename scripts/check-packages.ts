// The shape of every package, so that none needs a configuration of its own and all look alike to those who install them.
// `--write` only completes in each package.json what follows from its name and its `exports`.
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  codeEntries,
  type Entry,
  type Manifest,
  type Package,
  readPackages,
  root,
  sourceCondition,
} from '../tests/support/tools/packages/packages.ts';

const repository = 'https://github.com/service-auth/service-auth';
/** With a range for one of these, the npm of Node 20 finds no solution for Nest 12. */
const peersWithoutRange = ['@nestjs/terminus'];
const longestComment = 100;
const filesOfAPackage = ['src', 'test', 'README.md', 'CHANGELOG.md', 'package.json', 'dist', 'node_modules', '.turbo'];

let problems = 0;
function problem(place: string, sentence: string): void {
  problems += 1;
  console.error(`${relative(root, place)}: ${sentence}`);
}

const packages = readPackages();
if (process.argv.includes('--write')) {
  for (const { name, folder, manifest } of packages)
    writeFileSync(join(folder, 'package.json'), completed(manifest, name));
  process.exit();
}
for (const { name, folder, manifest } of packages) {
  checkManifest({ name, folder, manifest });
  checkFiles(folder, manifest.name);
  checkSources(folder);
}
if (problems > 0) process.exit(1);
console.log(`${packages.length} packages are in shape.`);

function completed(manifest: Package['manifest'], name: string): string {
  return `${JSON.stringify(completeManifest(manifest, name), null, 2)}\n`;
}

function checkManifest({ name, folder, manifest }: Pick<Package, 'name' | 'folder' | 'manifest'>): void {
  const file = join(folder, 'package.json');
  if (completed(manifest, name) !== readFileSync(file, 'utf8')) {
    problem(file, 'is not what follows from its name and exports. Run `pnpm fix` and look at what it changes.');
  }
  if (!manifest['description']) problem(file, 'has no description.');
  if (!Array.isArray(manifest['keywords'])) problem(file, 'has no keywords.');

  for (const peer of Object.keys({ ...manifest.peerDependencies, ...manifest.peerDependenciesMeta })) {
    if (!manifest.devDependencies?.[peer])
      problem(file, `has the peer ${peer}, but not among devDependencies: nothing tests it.`);
  }
  for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
    if (peer.startsWith('@service-auth/') && range !== 'workspace:^')
      problem(file, `wants ${peer} as ${range}; write workspace:^.`);
    if (peersWithoutRange.includes(peer))
      problem(file, `has a range for the peer ${peer}, with which npm 10 refuses to install the newest Nest.`);
  }
  for (const [dependency, version] of Object.entries(manifest.devDependencies ?? {})) {
    if (!/^(\d+\.|npm:.+@\d+\.|catalog:|workspace:\*$)/.test(version))
      problem(file, `develops against ${dependency} ${version}; pin one version, or workspace:* for ours.`);
  }
}

function checkFiles(folder: string, packageName: string): void {
  for (const file of readdirSync(folder).filter((file) => !filesOfAPackage.includes(file))) {
    problem(join(folder, file), 'is not part of a package. Configuration has one place: the root.');
  }
  const readme = join(folder, 'README.md');
  if (!existsSync(readme)) problem(readme, 'is missing.');
  else if (!readFileSync(readme, 'utf8').startsWith(`# ${packageName}\n`))
    problem(readme, `does not begin with "# ${packageName}".`);
}

function checkSources(folder: string): void {
  for (const file of globSync('src/**/*.ts', { cwd: folder }).map((path) => join(folder, path))) {
    for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      if (line.length > longestComment && /^\s*(\/\/ |\/?\* [^|]|\/\*\* )/.test(line))
        problem(file, `has a comment of ${line.length} columns in line ${at + 1}, ${longestComment} at most.`);
    }
  }
}

/** A package.json with everything that follows from its name and `exports`, in one order of fields. Given fields of other names stay. */
function completeManifest(given: Manifest, folder: string): Manifest {
  const { name, version = '0.0.0', description, keywords, ...rest } = given;
  const entries = codeEntries(given).map(([path, entry]) => [path, completeEntry(entry)] as const);
  const main = withoutExports(entries[0]?.[1]);

  const derived = {
    license: 'MIT',
    author: 'Service Auth contributors',
    homepage: `${repository}/tree/main/packages/${folder}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git`, directory: `packages/${folder}` },
    type: 'module',
    sideEffects: false,
    engines: given['engines'] ?? { node: '>=20.19' },
    files: given['files'] ?? ['dist'],
    // For compilers and tools from before `exports`.
    main: main?.default,
    types: main?.types,
    ...typesVersions(entries),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    publishConfig: { access: 'public', provenance: true },
    scripts: { build: 'tsdown --config ../../tsdown.config.ts', prepack: 'turbo run build' },
  };
  for (const field of Object.keys(derived)) delete rest[field];
  return { name, version, description, keywords, ...derived, ...rest } as Manifest;
}

/** Both formats, unless the entry was written with a `default` of its own: then only the one for `import`. */
function completeEntry(entry: Entry): Entry {
  const source = entry[sourceCondition] ?? '';
  const output = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
  const esm = { types: `${output}.d.ts`, default: `${output}.js` };
  if (entry.default) return { [sourceCondition]: source, ...esm };
  return { [sourceCondition]: source, import: esm, require: { types: `${output}.d.cts`, default: `${output}.cjs` } };
}

function withoutExports(entry: Entry | undefined): { types?: string; default?: string } | undefined {
  return entry?.require ?? entry;
}

function typesVersions(entries: (readonly [string, Entry])[]): object {
  const subpaths = entries.filter(([path]) => path !== '.');
  if (subpaths.length === 0) return {};
  const types = subpaths.map(([path, entry]) => [path.slice(2), [withoutExports(entry)?.types]]);
  return { typesVersions: { '*': Object.fromEntries(types) } };
}
