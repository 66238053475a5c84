import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../end-with-this-process.ts';
import { cachedFolder, oneAtATime, run } from '../servers/tools.ts';
import { type Manifest, readPackages, root } from './packages.ts';

const maxBuildMs = 600_000;

let packed: Promise<ReadonlyMap<string, string>> | undefined;

/**
 * Packs all packages as they would be published and returns their tarballs by the package's name. Builds first what is not built.
 * Callers with the same build share the tarballs.
 */
export function packAll(): Promise<ReadonlyMap<string, string>> {
  packed ??= buildAndPack();
  return packed;
}

async function buildAndPack(): Promise<ReadonlyMap<string, string>> {
  await oneAtATime('build', maxBuildMs, () =>
    run('turbo', ['run', 'build', '--output-logs=errors-only'], { cwd: root, timeout: maxBuildMs }),
  );
  const files = globSync(
    ['packages/*/{dist/**,package.json,README.md}', 'pnpm-workspace.yaml', '.pnpmfile.mjs', 'LICENSE'],
    {
      cwd: root,
    },
  );
  const contents = files.filter((file) => statSync(join(root, file)).isFile()).sort();
  const hash = createHash('sha256');
  for (const file of contents) hash.update(file).update(readFileSync(join(root, file)));
  const folder = await cachedFolder(`packed-${hash.digest('hex').slice(0, 16)}`, (unfinished) =>
    pack(contents, unfinished),
  );
  return new Map(
    readPackages().map(({ manifest: { name, version } }) => {
      const tarball = join(folder, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
      if (!existsSync(tarball)) throw new Error(`${name} was not packed, only: ${readdirSync(folder).join(', ')}`);
      return [name, tarball];
    }),
  );
}

/** In a copy of the workspace, because pnpm changes each package.json while it packs. */
async function pack(files: readonly string[], destination: string): Promise<void> {
  const copy = temporaryFolder(join(tmpdir(), 'service-auth-pack-'));
  for (const file of files) cpSync(join(root, file), join(copy, file));
  for (const { name, folder } of readPackages())
    symlinkSync(join(folder, 'node_modules'), join(copy, 'packages', name, 'node_modules'));
  const argv = ['--recursive', '--filter=./packages/*', 'pack', '--pack-destination', destination];
  await run('pnpm', [...argv, '--config.ignore-scripts=true'], { cwd: copy });
}

/** Puts these packages of ours into the `node_modules` of a folder, as they are published. Each finds the dependencies that it declares, and no others. */
export async function installPacked(folder: string, names: readonly string[]): Promise<void> {
  const tarballs = await packAll();
  for (const name of names) {
    const target = join(folder, 'node_modules/@service-auth', name);
    mkdirSync(target, { recursive: true });
    const tarball = tarballs.get(`@service-auth/${name}`) ?? '';
    await run('tar', ['--extract', '--gzip', '--strip-components=1', '--file', tarball, '--directory', target]);
    const { dependencies = {} } = readManifest(target);
    for (const foreign of Object.keys(dependencies).filter((id) => !id.startsWith('@service-auth/')))
      link(target, join(root, 'packages', name), foreign);
  }
}

/** Links packages into the `node_modules` of a folder that are installed for another folder of the repository, all of its dependencies by default. Those that are there already stay. */
export function linkInstalled(folder: string, source: string, names: readonly string[] = foreignOf(source)): void {
  for (const name of names) link(folder, join(root, source), name);
}

function foreignOf(source: string): string[] {
  const { dependencies, devDependencies } = readManifest(join(root, source));
  return Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith('@service-auth/'));
}

function link(folder: string, source: string, name: string): void {
  const path = join(folder, 'node_modules', name);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(source, 'node_modules', name), path);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
