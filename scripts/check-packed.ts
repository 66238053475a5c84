// Uses the packages as a stranger would: packed, installed by npm into an empty folder outside the workspace, type-checked, and on each
// Node imported, required, run in every example, and put through the contract of HTTP clients with each client that runs on it.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { promisify } from 'node:util';
import { installEngines, isInstalled, type Node, nodes } from '../tests/runtimes/engines.ts';
import { inParallel } from './in-parallel.ts';
import { packAll } from './pack.ts';
import { codeEntries, type Manifest, type Package, readPackages, root, sourceCondition } from './packages.ts';
import { bundleContract, runContract } from './packed-contract.ts';
import { runNestApplications } from './packed-nestjs.ts';
import { runTelemetry } from './packed-telemetry.ts';

/** The examples that are programs: they say at the top how to run them. One of them runs until it is stopped, and one runs the recipes. */
const programs = readdirSync(join(root, 'examples'))
  .filter((name) => name.endsWith('.ts') && !['two-terminals.ts', 'run-recipe.ts'].includes(name))
  .filter((name) => readFileSync(join(root, 'examples', name), 'utf8').includes(` example examples/${name}\n`));
const recipes = readdirSync(join(root, 'examples/recipes')).filter((name) =>
  readFileSync(join(root, 'examples/recipes', name), 'utf8').includes(` examples/run-recipe.ts ${parse(name).name}\n`),
);
/** The clients that do not run on a Node, according to their own `engines`. */
const clientsMissingOn: Readonly<Record<number, readonly string[]>> = {
  20: [
    'got 15',
    'got 16',
    'the fetch of undici 8',
    'undici 8.0',
    'undici 8.12',
    'undici 8.12, listed after redirect()',
  ],
};

/** With less, `await using` and some of our declarations are not understood. */
const oldestTypeScript = '5.2.2';

/** The program says that it needs this Node. */
const oldestForProgram = 22;

const execute = promisify(execFile);
const packages = readPackages();
const specifiers = packages.flatMap((published) => published.specifiers);
const requirable = packages.filter(({ hasCommonJs }) => hasCommonJs).flatMap((published) => published.specifiers);
const consumer = realpathSync(mkdtempSync(join(tmpdir(), 'service-auth-packed-')));

try {
  await installEngines();
  const installed = nodes.filter(({ major, file }) => isInstalled(`Node ${major}`, file));
  const tarballs = packAll(packages);
  await install(tarballs);
  for (const { manifest } of packages) checkInstalled(manifest);
  copyExamples();
  await checkTypes();
  writeLoader();
  await bundleContract('on-this-node.ts', consumer);
  await inParallel(installed, async (node) => {
    await run(node.file, ['load.js']);
    await runExamples(node);
    await runAllClients(node);
  });
  await runTelemetry({ nodes: installed, tarballs, run });
  for (const node of installed) await runProgram(node);
  await runNestApplications({ nodes: installed, tarballs, run });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true, force: true });
}

async function install(tarballs: Map<string, string>): Promise<void> {
  const dependencies = {
    ...Object.assign({}, ...packages.map(testedPeers)),
    ...foreignDependencies(join(root, 'examples')),
    ...foreignDependencies(join(root, 'tests/compat/http-clients')),
    ...Object.fromEntries([...tarballs].map(([name, tarball]) => [name, `file:${tarball}`])),
    '@types/node': installedVersion(root, '@types/node'),
    'typescript-oldest': `npm:typescript@${oldestTypeScript}`,
  };
  write('package.json', JSON.stringify({ private: true, type: 'module', dependencies }, null, 2));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
}

/** The versions of foreign peers that the package's own tests run with. */
function testedPeers({ folder, manifest }: Package): Record<string, string> {
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((peer) => !peer.startsWith('@service-auth/'));
  return Object.fromEntries(peers.map((peer) => [peer, installedVersion(folder, peer)]));
}

/** The dependencies of the examples, and the clients of the contract in several versions. */
function foreignDependencies(folder: string): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const foreign = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([name]) => !name.startsWith('@service-auth/'),
  );
  return Object.fromEntries(
    foreign.map(([name, range]) => [name, range === 'catalog:' ? installedVersion(folder, name) : range]),
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

async function checkTypes(): Promise<void> {
  const importAll = (names: string[]) => names.map((name, index) => `export * as _${index} from '${name}';\n`).join('');
  write('all.mts', importAll(specifiers));
  write(
    'all.cts',
    requirable.map((name, index) => `import _${index} = require('${name}');\nexport { _${index} };\n`).join(''),
  );
  write('web.mts', importAll(['@service-auth/core', '@service-auth/core/http', '@service-auth/fetch']));

  const strictest = {
    module: 'NodeNext',
    target: 'ES2022',
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
  };
  const examples = readdirSync(join(consumer, 'examples')).filter((name) => name.endsWith('.ts'));
  const compilers = {
    tsc: ['all.mts', 'all.cts'],
    // It lets no CommonJS module import an ES module, such as Nest 12.
    [join(consumer, 'node_modules/typescript-oldest/bin/tsc')]: ['all.mts'],
  };
  for (const [tsc, entries] of Object.entries(compilers)) {
    await compile(tsc, { ...strictest, lib: ['ES2022'], types: ['node'] }, entries);
    await compile(tsc, { ...strictest, lib: ['ES2022', 'DOM'], types: [] }, ['web.mts']);
    await compile(
      tsc,
      { ...strictest, lib: ['ES2022', 'ESNext.Disposable'], types: ['node'], allowImportingTsExtensions: true },
      examples.map((name) => `examples/${name}`),
    );
  }
}

/** Declarations of ours are checked too; what foreign ones get wrong is not ours to judge. */
async function compile(tsc: string, compilerOptions: object, files: string[]): Promise<void> {
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
  const { stdout } = await execute(tsc, ['--pretty', 'false'], { cwd: consumer }).catch((error) => {
    if (typeof error.code !== 'number') throw error;
    return error;
  });
  const ours = stdout
    .split('\n')
    .filter((line: string) => /^(all|web)\.|^examples\/|^error|^node_modules\/@service-auth\//.test(line));
  if (ours.length > 0)
    throw new Error(`The published types do not compile for their users, by ${tsc}:\n${ours.join('\n')}`);
}

function writeLoader(): void {
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
    }
    const copies = [await import('@service-auth/core'), createRequire(import.meta.url)('@service-auth/core')];
    if (copies[0].createServiceAuth === copies[1].createServiceAuth) throw new Error('import and require give the same copy of core');
    let issued = 0;
    const body = JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: 86400 });
    const transport = async () => ({ status: 200, headers: {}, body, issued: issued++ });
    const options = { authUrl: 'https://auth.example.com', audience: 'a', clientId: 'c', clientSecret: 's', transport };
    for (const { createServiceAuth } of copies) await createServiceAuth(options).getToken();
    if (issued !== 1) throw new Error(issued + ' tokens were issued to the copies of core that import and require give');`,
  );
}

function copyExamples(): void {
  cpSync(join(root, 'examples'), join(consumer, 'examples'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  cpSync(join(root, 'tests/support/tools/certificates'), join(consumer, 'tests/support/tools/certificates'), {
    recursive: true,
  });
}

async function runExamples({ major, file }: Node): Promise<void> {
  // Node 20 does not run TypeScript.
  if (major === 20) return;
  if (programs.length === 0 || recipes.length === 0) throw new Error('No example says at its top how to run it.');
  for (const program of programs) await run(file, [join('examples', program)]);
  for (const recipe of recipes) await run(file, ['examples/run-recipe.ts', parse(recipe).name]);
  console.log(`Node ${major}: ${programs.length} examples and ${recipes.length} recipes.`);
}

async function runAllClients(node: Node): Promise<void> {
  const { passed, missing = [] } = await runContract(run, node, consumer);
  const expected = clientsMissingOn[node.major] ?? [];
  if (missing.join() !== expected.join()) {
    throw new Error(`On Node ${node.major} these clients say that they do not run: ${missing}, not: ${expected}`);
  }
  console.log(`Node ${node.major}: ${specifiers.length} entries, ${passed} cases of the contract of HTTP clients.`);
}

/** The tests of the program `service-auth` with the packed one, on this Node. */
async function runProgram({ major, file }: Node): Promise<void> {
  if (major < oldestForProgram) return;
  const linked = join(consumer, 'node_modules/.bin/service-auth');
  const version = (await run(file, [linked, '--version'])).trim();
  const expected = packages.find(({ name }) => name === 'cli')?.manifest.version;
  if (version !== expected) throw new Error(`service-auth --version says ${version}, not ${expected}`);
  const env = { ...process.env, SERVICE_AUTH_PROGRAM: realpathSync(linked), SERVICE_AUTH_NODE: file };
  // `pnpm check command-line` runs the same tests on the version between.
  if (file === process.execPath) return;
  // The oldest version shows what is missing. The newest one tries the commands that are used most.
  const files = major === oldestForProgram ? [''] : ['token.', 'usage.', 'doctor.', 'stores.', 'serve/serve.'];
  const paths = files.map((name) => `packages/cli/test/${name}`);
  await run('vitest', ['run', '--coverage.enabled=false', ...paths], root, 900_000, env);
  console.log(`Node ${major}: the tests of service-auth, packed.`);
}

async function run(
  command: string,
  argv: string[],
  cwd = consumer,
  timeout = 180_000,
  env = process.env,
): Promise<string> {
  const { stdout } = await execute(command, argv, { cwd, timeout, env, maxBuffer: 100_000_000 }).catch(
    ({ message, stdout, stderr }) => {
      throw new Error(`${command} ${argv.join(' ')} failed:\n${stdout}${stderr}${message}`);
    },
  );
  return stdout;
}

function write(file: string, content: string): void {
  writeFileSync(join(consumer, file), content);
}
