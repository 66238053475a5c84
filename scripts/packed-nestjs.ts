// Nest as a stranger has it: against the packed packages, with each major version of Nest, the contract of HTTP clients with its HttpService, and
// the application of the examples, compiled as an ES module and as CommonJS.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Node } from '../tests/runtimes/engines.ts';
import { inParallel } from './in-parallel.ts';
import { type Manifest, root } from './packages.ts';
import { bundleContract, type Run, runContract } from './packed-contract.ts';

export interface Stranger {
  readonly nodes: readonly Node[];
  /** Tarballs by the name of the package. */
  readonly tarballs: ReadonlyMap<string, string>;
  readonly run: Run;
}

const packages = ['core', 'axios', 'nestjs', 'testing'].map((name) => `@service-auth/${name}`);
// The folders whose package.json has the versions of Nest and of its companions.
const versionsOf = { 10: 'tests/compat/nest-10', 11: 'tests/compat/nest-11', 12: 'examples' };

const classicCommonJs = ['tsc6', '--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'];

export async function runNestApplications(stranger: Stranger): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-nestjs-')));
  try {
    for (const [version, source] of Object.entries(versionsOf)) {
      const folder = join(home, version);
      const dependencies = { ...foreignDependencies(source), ...tarballsOf(packages, stranger.tarballs) };
      writeJson(folder, { private: true, type: 'module', dependencies });
      await stranger.run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], folder);
      await bundleContract('nestjs-on-this-node.ts', folder);
      await inParallel(stranger.nodes, async (node) => {
        const { passed } = await runContract(stranger.run, node, folder);
        console.log(`Node ${node.major}: ${passed} cases of it with the HttpService of Nest ${version}.`);
      });
      await runApplication(stranger, folder, 'module', ['tsc']);
      // Until Nest 12 the Nest CLI set up projects that know no `exports`.
      await runApplication(stranger, folder, 'commonjs', version === '12' ? ['tsc'] : classicCommonJs);
      console.log(`The example runs with Nest ${version}, as an ES module and as CommonJS.`);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function runApplication({ nodes, run }: Stranger, home: string, type: string, compiler: string[]): Promise<void> {
  const folder = join(home, type);
  const [tsc = '', ...options] = compiler;
  cpSync(join(root, 'examples/nestjs-app'), folder, { recursive: true });
  writeJson(folder, { type });
  await run(tsc, ['--project', '.', '--pretty', 'false', ...options], folder);
  // Not at the top: it needs the packages built.
  const { tryNestjsApp } = await import('../examples/test/try-nestjs-app.ts');
  await inParallel(nodes, ({ file }) => tryNestjsApp(file, [join(folder, 'dist/main.js')]));
}

/** The versions that are installed, for a range or a catalog would not be what the tests ran with. */
function foreignDependencies(source: string): Record<string, string> {
  const { dependencies = {} } = readManifest(join(root, source));
  const foreign = Object.keys(dependencies).filter((name) => !name.startsWith('@service-auth/'));
  const versionOf = (name: string) => readManifest(join(root, source, 'node_modules', name)).version;
  const types = readManifest(join(root, 'node_modules/@types/node')).version;
  return { ...Object.fromEntries(foreign.map((name) => [name, versionOf(name)])), '@types/node': types };
}

function tarballsOf(names: string[], tarballs: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `file:${tarballs.get(name)}`]));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function writeJson(folder: string, manifest: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
}
