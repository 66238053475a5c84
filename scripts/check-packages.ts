// The shape of every package, so that none needs a configuration of its own and all look alike to those who install them.
// `--write` only completes in each package.json what follows from its name and its `exports`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { importsOf, type SourceImport } from './imports.ts';
import { completeManifest } from './manifest.ts';
import { type Package, readPackages, root } from './packages.ts';

/** With a range for one of these, the npm of Node 20 finds no solution for Nest 12. */
const peersWithoutRange = ['@nestjs/terminus'];
const longestFile = 250;
const filesOfAPackage = ['src', 'test', 'README.md', 'CHANGELOG.md', 'package.json', 'dist', 'node_modules', '.turbo'];

/**
 * Who may import whom: as types only, or as values too. A new package needs a row. `own` stands for its own dependencies.
 * That core uses web globals only is for the compiler to find: tsconfig.web.json gives it no others.
 */
const mayImport: Record<string, { types?: string[]; values?: string[] }> = {
  core: {},
  axios: { types: ['@service-auth/core'], values: ['@service-auth/core/http', 'axios'] },
  got: { types: ['@service-auth/core'], values: ['@service-auth/core/http', 'got'] },
  fetch: { types: ['@service-auth/core'], values: ['@service-auth/core/http'] },
  undici: { types: ['@service-auth/core'], values: ['@service-auth/core/http', 'undici'] },
  file: { types: ['@service-auth/core'], values: ['@service-auth/core/store', 'node:'] },
  redis: { types: ['@service-auth/core'], values: ['@service-auth/core/store'] },
  mysql: {
    types: ['@service-auth/core'],
    values: ['@service-auth/core/sql', '@service-auth/core/store', 'node:buffer'],
  },
  postgres: { types: ['@service-auth/core'], values: ['@service-auth/core/sql', '@service-auth/core/store'] },
  cloudflare: { types: ['@service-auth/core'] },
  dynamodb: { types: ['@service-auth/core'], values: ['@service-auth/core/store', '@aws-sdk/client-dynamodb'] },
  sqlite: { types: ['@service-auth/core'], values: ['@service-auth/core/sql', '@service-auth/core/store'] },
  nestjs: { values: ['@service-auth/core', '@service-auth/axios', '@service-auth/nestjs', 'node:', 'own'] },
  testing: { types: ['@service-auth/core'], values: ['node:'] },
  opentelemetry: { types: ['@service-auth/core'], values: ['own'] },
  cli: {
    values: [
      ...['core', 'file', 'mysql', 'postgres', 'redis', 'sqlite', 'testing'].map((name) => `@service-auth/${name}`),
      ...['node:', 'own'],
    ],
  },
};

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
  checkSources(name, folder, manifest);
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

  for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
    if (!manifest.devDependencies?.[peer])
      problem(file, `has the peer ${peer}, but not among devDependencies: nothing tests it.`);
    if (peer.startsWith('@service-auth/') && range !== 'workspace:^')
      problem(file, `wants ${peer} as ${range}; write workspace:^.`);
  }
  for (const peer of Object.keys(manifest.peerDependenciesMeta ?? {})) {
    if (!manifest.devDependencies?.[peer])
      problem(file, `has the optional peer ${peer}, but not among devDependencies: nothing tests it.`);
  }
  for (const peer of peersWithoutRange) {
    if (manifest.peerDependencies?.[peer])
      problem(file, `has a range for the peer ${peer}: see docs/decisions/0034-a-peer-without-a-range.md.`);
  }
  for (const [dependency, version] of Object.entries(manifest.devDependencies ?? {})) {
    if (!/^(\d+\.|npm:.+@\d+\.|catalog:|workspace:\*$)/.test(version)) {
      problem(
        file,
        `develops against ${dependency} ${version}; pin one version, or workspace:* for a package of ours.`,
      );
    }
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

function checkSources(name: string, folder: string, manifest: Package['manifest']): void {
  const rule = mayImport[name];
  if (!rule) problem(folder, 'has no row in `mayImport` of scripts/check-packages.ts: say what it may import.');
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  const own = Object.keys({ ...dependencies, ...peerDependencies, ...peerDependenciesMeta }).filter(
    (id) => !id.startsWith('@service-auth/'),
  );
  const values = (rule?.values ?? []).flatMap((id) => (id === 'own' ? own : id));
  const types = [...values, ...(rule?.types ?? [])];

  for (const file of sourceFiles(join(folder, 'src'))) {
    const code = readFileSync(file, 'utf8');
    const lines = code.split('\n').length - 1;
    if (lines > longestFile)
      problem(file, `has ${lines} lines, ${longestFile} at most. Look for the idea that is missing.`);

    for (const imported of importsOf(file, code)) {
      if (imported.from.startsWith('.') || !rule) continue;
      if (!allows(imported.typeOnly ? types : values, imported)) {
        problem(file, `imports ${imported.from}${imported.typeOnly ? '' : ' as a value'}, which ${name} may not.`);
      }
    }
  }
}

function allows(allowed: string[], { from }: SourceImport): boolean {
  return allowed.some((id) => from === id || from.startsWith(id.endsWith(':') ? id : `${id}/`));
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}
