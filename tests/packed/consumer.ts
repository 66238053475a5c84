// What somebody has who installed our packages: they are packed and put beside the clients, frameworks and drivers that they serve,
// in a folder outside the workspace. `check release` tries the installation itself, with four package managers.
import { chmodSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installEngines, isInstalled, type Node, triedNodes } from '@service-auth/runtimes/engines';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { byDay, isNight } from '@service-auth/test-tools/night';
import { readPackages, root } from '@service-auth/test-tools/packages/packages';
import { installPacked, linkInstalled } from '@service-auth/test-tools/packages/packed';
import { run as execute } from '@service-auth/test-tools/servers/tools';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import type { ContractReport } from '../compat/http-clients/report.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder that has the folders of the consumers, by their names. */
    consumers: string;
    /** The Nodes that are tried, without those that this machine cannot have. */
    nodes: readonly Node[];
  }
}

/** The folders whose package.json has the versions of Nest and of its companions; by day of the oldest and the newest. */
export const nestVersions: Readonly<Record<string, string>> = Object.fromEntries(
  byDay(
    Object.entries({ 10: 'tests/compat/nest-10', 11: 'tests/compat/nest-11', 12: 'examples' }),
    ([version]) => version !== '11',
  ),
);
/** The folders with the oldest and with the newest OpenTelemetry. */
export const telemetryVersions = ['tests/compat/opentelemetry-2', 'packages/opentelemetry'] as const;

/** Creates all consumers, once for all test files. */
export async function setup(project: TestProject): Promise<void> {
  await installEngines();
  const home = realpathSync(temporaryFolder(join(tmpdir(), 'service-auth-packed-')));
  await createAll(join(home, 'all'));
  for (const [version, source] of Object.entries(nestVersions))
    await create(join(home, `nest-${version}`), ['core', 'axios', 'nestjs', 'testing'], [source]);
  for (const [index, source] of telemetryVersions.entries())
    await create(join(home, `telemetry-${index}`), ['core', 'opentelemetry', 'testing'], [source]);
  project.provide('consumers', home);
  project.provide(
    'nodes',
    triedNodes.filter(({ major, file }) => isInstalled(`Node ${major}`, file)),
  );
}

async function create(folder: string, ours: readonly string[], sources: readonly string[]): Promise<void> {
  write(folder, 'package.json', JSON.stringify({ private: true, type: 'module' }));
  await installPacked(folder, ours);
  for (const source of sources) linkInstalled(folder, source);
  linkInstalled(folder, '.', ['@types/node']);
}

/** All packages with all their peers, the clients of the contract in several versions, and the examples with what they need. */
export async function createAll(folder: string): Promise<void> {
  const packages = readPackages();
  write(folder, 'package.json', JSON.stringify({ private: true, type: 'module' }));
  for (const { name, manifest } of packages) {
    const peers = Object.keys({ ...manifest.peerDependencies, ...manifest.peerDependenciesMeta });
    const foreign = peers.filter((peer) => !peer.startsWith('@service-auth/'));
    linkInstalled(folder, `packages/${name}`, foreign);
  }
  const sources = ['examples', 'tests/compat/http-clients'];
  await create(
    folder,
    packages.map(({ name }) => name),
    sources,
  );
  for (const path of ['examples', 'tests/support/tools/certificates']) {
    const filter = (file: string) => !file.includes('node_modules');
    cpSync(join(root, path), join(folder, path), { recursive: true, filter });
  }
  const program = join(folder, 'node_modules/@service-auth/cli/dist/service-auth.js');
  chmodSync(program, 0o755);
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync(program, join(folder, 'node_modules/.bin/service-auth'));
}

/** Runs a command to its end and returns what it printed. */
export function run(cwd: string, command: string, argv: string[], timeout = 240_000): Promise<string> {
  return execute(command, argv, { cwd, timeout });
}

/** Puts a program of tests/compat/http-clients into a folder with all that it imports: as JavaScript, for Node 20 runs nothing else. */
export async function bundleContract(program: string, folder: string): Promise<void> {
  await build({
    entryPoints: [join(root, 'tests/compat/http-clients', program)],
    outfile: join(folder, 'contract.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
}

// Nest and Terminus load these late, and only if an application has them.
const optionalForNest = [
  ...['@nestjs/microservices', '@nestjs/websockets', 'class-transformer', 'class-validator'],
  ...['@mikro-orm/core', '@nestjs/mongoose', '@nestjs/sequelize', '@nestjs/typeorm'],
];

/** Bundles a compiled Nest application with all that it imports into one file, as for AWS Lambda. Returns the file. */
export async function bundleNestjsApp(main: string, format: 'esm' | 'cjs', folder: string): Promise<string> {
  const outfile = join(folder, format === 'esm' ? 'main.mjs' : 'main.cjs');
  // The CommonJS modules in an ES module call require() for what Node has.
  const banner =
    "import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);";
  await build({
    entryPoints: [main],
    outfile,
    bundle: true,
    platform: 'node',
    format,
    external: optionalForNest,
    keepNames: true,
    ...(format === 'esm' && { banner: { js: banner } }),
  });
  return outfile;
}

/** Runs the bundled contract of HTTP clients on a Node. By day the oldest Node has the older clients, and the newest one the others. */
export async function runContract(folder: string, { file, major }: Node): Promise<ContractReport> {
  const clients = isNight ? [] : [major === 26 ? 'newest' : 'older'];
  return JSON.parse(await run(folder, file, ['contract.js', ...clients], 900_000)) as ContractReport;
}

export function write(folder: string, file: string, content: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), content);
}
