import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { inParallel } from '../support/tools/in-parallel.ts';
import { type Manifest, root } from '../support/tools/packages/packages.ts';
import { packAll } from '../support/tools/packages/packed.ts';
import type { Registry } from './registry.ts';

const execute = promisify(execFile);
const bumps = ['patch', 'minor', 'major'];

export interface Published {
  readonly manifest: Manifest;
  readonly tarball: string;
}

/** Is told each step that went well. */
export type Tell = (step: string) => void;

/** Does in a copy of the tracked files what the release workflow does, and publishes to the registry on loopback. */
export async function publishCopy(folder: string, registry: Registry, tell: Tell): Promise<Published[]> {
  const copy = join(folder, 'copy');
  copyTrackedFiles(copy);
  const filters = ['--filter', '.', '--filter', './packages/*'];
  await execute('pnpm', ['install', '--frozen-lockfile', '--prefer-offline', ...filters], { cwd: copy });

  const env = { ...registry.env, PATH: `${join(copy, 'node_modules/.bin')}:${registry.env['PATH']}` };
  const run = async (command: string, argv: string[]) => (await execute(command, argv, { cwd: copy, env })).stdout;
  const expected = nextVersion(copy);
  const publish = async (version: string) => {
    const packed = join(folder, `packed-${version}`);
    await run('node', ['scripts/next-version.ts']);
    await run('pnpm', ['install', '--frozen-lockfile', '--lockfile-only', '--offline']);
    await run('turbo', ['run', 'build', '--output-logs=errors-only', '--filter=./packages/*']);
    await run('changeset', ['pack', '--out-dir', packed]);
    const published = readTarballs(packed);
    for (const { manifest } of published) {
      if (manifest.version !== version)
        throw new Error(`The changesets make ${version}, but ${manifest.name} became ${manifest.version}.`);
    }
    await assertRegistries(copy, env);
    await run('changeset', ['publish', '--from-pack-dir', packed]);
    return published;
  };

  await run('changeset', ['pre', 'enter', 'next']);
  await publish(`${expected}-next.0`);
  tell('a candidate is published');
  await run('changeset', ['pre', 'exit']);
  const published = await publish(expected);
  for (const { manifest } of published) {
    const tags = JSON.parse(await run('npm', ['view', manifest.name, 'dist-tags', '--json'])) as object;
    if (!isDeepStrictEqual(tags, { latest: expected, next: `${expected}-next.0` }))
      throw new Error(`${manifest.name} is published as ${JSON.stringify(tags)}.`);
  }
  tell(`${expected} is \`latest\`, and the candidate is \`next\``);
  for (const document of ['README.md', 'CONTRIBUTING.md', 'docs/releases.md', 'docs/start/index.md']) {
    if (/until the first release|tarballs of a clone|pnpm@12 tarballs/.test(readFileSync(join(copy, document), 'utf8')))
      throw new Error(`${document} still says how to install what is not released.`);
  }
  tell('no page says how to install what is not released');
  await run('pnpm', [
    '--filter=./packages/*',
    'sbom',
    '--prod',
    '--split',
    '--sbom-format=cyclonedx',
    '--out=sbom/%s-%v.json',
  ]);
  const lists = readdirSync(join(copy, 'sbom')).filter((name) => name.endsWith(`-${expected}.json`));
  if (lists.length !== published.length) throw new Error(`There are ${lists.length} lists of dependencies.`);
  tell('each package has a list of what it depends on');
  await assertUnverified(run);
  tell('what npm gives out is installed, and not called verified where it cannot be verified');
  return published;
}

/**
 * The registry on loopback signs nothing, and the keys of sigstore may be out of reach: either way
 * the program that runs after a release must not end well. It does not show which of the two it was.
 */
async function assertUnverified(run: (command: string, argv: string[]) => Promise<string>): Promise<void> {
  const verified = await run('node', ['scripts/verify-published.ts']).catch((error: { stderr: string }) => error);
  if (typeof verified === 'string') throw new Error(`Packages that nobody signed were called verified: ${verified}`);
  if (!verified.stderr.includes('npm audit signatures')) throw verified;
}

/** Publishes the packages as they are to the registry on loopback, which takes no version, no copy and no build. */
export async function publishPresent(folder: string, { env }: Registry): Promise<Published[]> {
  const published = [...(await packAll()).values()].map(readTarball);
  await assertRegistries(folder, env);
  await inParallel(published, async ({ tarball }) => {
    await execute('npm', ['publish', tarball, '--provenance=false'], { cwd: folder, env });
  });
  return published;
}

async function assertRegistries(cwd: string, env: Registry['env']): Promise<void> {
  for (const command of ['npm', 'pnpm']) {
    for (const key of ['registry', '@service-auth:registry']) {
      const { stdout } = await execute(command, ['config', 'get', key], { cwd, env });
      assertLoopback(`${key} of ${command}`, stdout.trim());
    }
  }
}

/** It is a repository, because changesets look for the commits that added them. */
function copyTrackedFiles(copy: string): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  const git = (...argv: string[]) =>
    execFileSync('git', ['-c', 'user.name=release', '-c', 'user.email=@', ...argv], { cwd: copy });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--no-verify', '--message=chore: a copy');
}

/** Returns the version that all packages get. It grows by the largest bump that a changeset asks for, and by no more. */
export function nextVersion(copy: string): string {
  const { version } = JSON.parse(readFileSync(join(copy, 'packages/core/package.json'), 'utf8')) as Manifest;
  const asked = readdirSync(join(copy, '.changeset'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .flatMap(
      (name) =>
        readFileSync(join(copy, '.changeset', name), 'utf8')
          .split(/^---$/m)[1]
          ?.match(/(?<=: )\w+$/gm) ?? [],
    )
    .map((bump) => bumps.indexOf(bump));
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return (
    [version, `${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`][
      Math.max(-1, ...asked) + 1
    ] ?? ''
  );
}

export function assertLoopback(name: string, address: string): void {
  if (address === 'undefined') return;
  if (new URL(address).hostname !== '127.0.0.1')
    throw new Error(`The ${name} is ${address}, so a rehearsal would be published. Nothing was.`);
}

function readTarballs(folder: string): Published[] {
  const tarballs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tgz'));
  return tarballs.map((name) => readTarball(join(folder, name)));
}

function readTarball(tarball: string): Published {
  const manifest = JSON.parse(readFromTarball(tarball, 'package.json')) as Manifest & {
    publishConfig?: { registry?: string };
  };
  if (manifest.publishConfig?.registry)
    assertLoopback(`publishConfig of ${manifest.name}`, manifest.publishConfig.registry);
  return { manifest, tarball };
}

export function readFromTarball(tarball: string, file: string): string {
  return execFileSync('tar', ['--extract', '--to-stdout', '--file', tarball, `package/${file}`], { encoding: 'utf8' });
}
