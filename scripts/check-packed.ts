// Uses the packages as a stranger would: packed, installed by npm into an empty folder outside the workspace, imported,
// required, type-checked, and one example run against them. On the toolchain's Node and on the machine's own; there, all HTTP clients
// that run on it go through their contract, too.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { packAll } from './pack.ts';
import { codeEntries, type Manifest, type Package, readPackages, root, sourceCondition } from './packages.ts';
import { runNestApplications } from './packed-nestjs.ts';

const example = 'axios-existing-app.ts';
const clients = join(root, 'compat/http-clients');

const packages = readPackages();
const specifiers = packages.flatMap((published) => published.specifiers);
const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap((published) => published.specifiers);
const consumer = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-packed-')));

try {
  const tarballs = packAll(packages);
  install(tarballs);
  for (const { manifest } of packages) checkInstalled(manifest);
  checkTypes();
  await bundleContract();
  const nodes = availableNodes();
  for (const node of nodes) {
    loadEverything(node);
    runExample(node);
  }
  runContract(nodes.at(-1) ?? process.execPath);
  await runNestApplications({ nodes, tarballs, run });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true, force: true });
}

function install(tarballs: Map<string, string>): void {
  const dependencies = {
    ...Object.assign({}, ...packages.map(testedPeers)),
    ...testedClients(),
    ...Object.fromEntries([...tarballs].map(([name, tarball]) => [name, `file:${tarball}`])),
    '@types/node': installedVersion(root, '@types/node'),
  };
  write('package.json', JSON.stringify({ private: true, type: 'module', dependencies }, null, 2));
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
}

/** The versions of foreign peers that the package's own tests run with. */
function testedPeers({ folder, manifest }: Package): Record<string, string> {
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((peer) => !peer.startsWith('@service-auth/'));
  return Object.fromEntries(peers.map((peer) => [peer, installedVersion(folder, peer)]));
}

/** The clients of the contract, several versions of each. */
function testedClients(): Record<string, string> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(clients, 'package.json'), 'utf8')) as Manifest;
  const foreign = Object.entries(dependencies).filter(([name]) => !name.startsWith('@service-auth/'));
  return Object.fromEntries(
    foreign.map(([name, range]) => [name, range === 'catalog:' ? installedVersion(clients, name) : range]),
  );
}

function installedVersion(folder: string, dependency: string): string {
  return (JSON.parse(readFileSync(join(folder, 'node_modules', dependency, 'package.json'), 'utf8')) as Manifest)
    .version;
}

function checkInstalled({ name }: Manifest): void {
  const folder = join(consumer, 'node_modules', name);
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  for (const leftover of [sourceCondition, 'workspace:', 'catalog:', 'install"']) {
    if (text.includes(leftover)) throw new Error(`The published package.json of ${name} still has ${leftover}`);
  }
  for (const file of ['README.md', 'LICENSE']) {
    if (!existsSync(join(folder, file))) throw new Error(`The published ${name} has no ${file}`);
  }
  for (const [, entry] of codeEntries(JSON.parse(text) as Manifest)) {
    for (const file of [entry, entry.import, entry.require].flatMap((to) => [to?.types, to?.default])) {
      if (file && !existsSync(join(folder, file)))
        throw new Error(`The published ${name} names ${file}, which is not in it`);
    }
  }
}

function checkTypes(): void {
  const importAll = (names: string[]) => names.map((name, index) => `export * as _${index} from '${name}';\n`).join('');
  write('all.mts', importAll(specifiers));
  write(
    'all.cts',
    requirable.map((name, index) => `import _${index} = require('${name}');\nexport { _${index} };\n`).join(''),
  );
  write('web.mts', importAll(['@service-auth/core', '@service-auth/fetch']));

  const strictest = {
    module: 'NodeNext',
    target: 'ES2022',
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
  };
  compile({ ...strictest, lib: ['ES2022'], types: ['node'] }, ['all.mts', 'all.cts']);
  compile({ ...strictest, lib: ['ES2022', 'ESNext.Disposable', 'DOM'], types: [] }, ['web.mts']);
}

/** Declarations of ours are checked too; what foreign ones get wrong is not ours to judge. */
function compile(compilerOptions: object, files: string[]): void {
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
  const { stdout } = spawnSync('tsc', ['--pretty', 'false'], { cwd: consumer, encoding: 'utf8' });
  const ours = stdout.split('\n').filter((line) => /^(all|web)\.|^error|^node_modules\/@service-auth\//.test(line));
  if (ours.length > 0) throw new Error(`The published types do not compile for their users:\n${ours.join('\n')}`);
}

function loadEverything(node: string): void {
  write(
    'load.js',
    `import { createRequire } from 'node:module';
    const requirable = new Set(${JSON.stringify(requirable)});
    const namesOf = (module) => Object.keys(module).filter((name) => !['default', 'module.exports', '__esModule'].includes(name)).sort().join();
    for (const specifier of ${JSON.stringify(specifiers)}) {
      const imported = namesOf(await import(specifier));
      if (imported === '') throw new Error(specifier + ' exports nothing');
      if (!requirable.has(specifier)) continue;
      const required = namesOf(createRequire(import.meta.url)(specifier));
      if (required !== imported) throw new Error(specifier + ' exports ' + imported + ' to import, but ' + required + ' to require');
    }`,
  );
  run(node, ['load.js']);
  console.log(`${specifiers.length} entries import and require on Node ${versionOf(node)}.`);
}

function runExample(node: string): void {
  const [major = 0, minor = 0] = versionOf(node).split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 18)) return;
  cpSync(join(root, 'examples'), join(consumer, 'examples'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  run(node, [join('examples', example)]);
  console.log(`examples/${example} runs against them on Node ${versionOf(node)}.`);
}

/** As JavaScript, for Node 20 runs nothing else. */
async function bundleContract(): Promise<void> {
  await build({
    entryPoints: [join(clients, 'on-this-node.ts')],
    outfile: join(consumer, 'contract.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
}

function runContract(node: string): void {
  const report = run(node, ['--test-reporter=tap', 'contract.js'], consumer, 600_000);
  const passed = Number(/^# pass (\d+)$/m.exec(report)?.[1] ?? 0);
  if (passed === 0) throw new Error(`No case of the contract of HTTP clients ran on Node ${versionOf(node)}`);
  const missing = [...report.matchAll(/^not here: (.+)$/gm)].map(([, client]) => client);
  const but = missing.length > 0 ? `; ${missing.join(', ')} need a newer one` : '';
  console.log(`${passed} cases of the contract of HTTP clients pass on Node ${versionOf(node)}${but}.`);
}

/** The toolchain's Node, and the first one on the PATH that is not it. */
function availableNodes(): string[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const own = onPath.find((file) => !file.includes('node_modules') && existsSync(file));
  return [...new Set([process.execPath, ...(own ? [realpathSync(own)] : [])])];
}

function versionOf(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
}

function run(command: string, argv: string[], cwd = consumer, timeout = 180_000): string {
  const { status, stdout, stderr, error } = spawnSync(command, argv, { cwd, encoding: 'utf8', timeout });
  if (status !== 0)
    throw new Error(`${command} ${argv.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
  return stdout;
}

function write(file: string, content: string): void {
  writeFileSync(join(consumer, file), content);
}
