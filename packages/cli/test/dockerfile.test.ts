// The file is validated. Its step runs with npm itself, and what it installs runs in a root of its own, as its user. No image is built, and nothing of Alpine is tried.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, node } from './support/program.ts';
import { startCanaryService } from './support/world.ts';

const text = readFileSync(new URL('../../../examples/pipelines/Dockerfile', import.meta.url), 'utf8');
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const instructions = DockerfileParser.parse(text).getInstructions();

/** The arguments of the only instruction of this name. */
function only(keyword: string): string {
  const [instruction, ...others] = instructions.filter((found) => found.getKeyword() === keyword);
  expect(others).toEqual([]);
  return instruction?.getArgumentsContent() ?? '';
}

test('the Dockerfile is valid, and validation finds mistakes', () => {
  expect(validate(text)).toEqual([]);
  expect(validate(text.replace('USER node', 'USR node'))).not.toEqual([]);
});

test('the image runs the program of this package, as a user without rights, on a Node that it supports', () => {
  expect(Object.keys(manifest.bin)).toContain(JSON.parse(only('ENTRYPOINT'))[0]);
  expect(only('USER')).toBe('node');
  const [, major] = /^node:(\d+)-/.exec(only('FROM')) ?? [];
  const [, oldest] = /^>=(\d+)/.exec(manifest.engines.node) ?? [];
  expect(Number(major)).toBeGreaterThanOrEqual(Number(oldest));
  // Everybody who has the image can read its variables.
  for (const instruction of instructions) expect(instruction.getKeyword()).not.toBe('ENV');
});

test('its step installs the published program, and stops at the first command that fails', () => {
  const folder = emptyFolder();
  const calls = join(folder, 'calls');
  mkdirSync(join(folder, 'bin'));
  const write = (name: string, code: number) => {
    const file = join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\necho ${name} "$@" >> '${calls}'\nexit ${code}\n`);
    chmodSync(file, 0o755);
  };
  write('npm', 0);
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, VERSION: '1.2.3' };
  const run = () => execFileSync('sh', ['-c', only('RUN').replace(/\\\r?\n/g, ' ')], { env, stdio: 'pipe' });
  run();
  const lines = readFileSync(calls, 'utf8').split('\n');
  expect(lines[0]).toMatch(new RegExp(`^npm install --global .*${manifest.name}@1\\.2\\.3$`));
  write('npm', 1);
  expect(run).toThrow();
  expect(readFileSync(calls, 'utf8').split('\n')).toHaveLength(lines.length + 1);
});

const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];

/** The command of this machine that can mount in namespaces of its own. */
async function findUnshare(): Promise<string[]> {
  const probe = ['sh', '-c', 'mount --rbind /usr /mnt; mount -t proc proc /tmp'];
  for (const [program = '', ...options] of [
    ['unshare'],
    ['unshare', '--user', '--map-root-user'],
    ['sudo', '-n', 'unshare'],
  ]) {
    const command = [program, ...options, ...namespaces];
    const works = await promisify(execFile)(program, [...command.slice(1), ...probe]).catch(() => undefined);
    if (works) return command;
  }
  throw new Error('no image to run: unshare cannot mount here');
}

const unshare = await orSkip(findUnshare);

test.runIf(unshare)(
  'what its step installs runs as the user of the image, in a root without anything of this machine but its commands',
  manyProcesses,
  async () => {
    const [program = '', ...options] = unshare ?? [];
    const service = await startCanaryService();
    const root = emptyFolder();
    const tools = emptyFolder();
    await installedBy(only('RUN'), join(root, 'image'), tools);
    for (const folder of ['usr', 'etc', 'dev', 'proc', 'tmp', 'home/node'])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
    cpSync(node, join(root, 'image/bin/node'));
    // The official images give the number 1000 to the user node. Any other user but root is like it, and removes the folder afterwards.
    const id = process.getuid?.() || 1000;
    const [owner, user] = options.includes('--user') ? [0, ''] : [id, `--userspec=${id}:${id}`];
    const script = `set -e; root="$1"; shift
    for folder in usr etc dev; do mount --rbind /$folder "$root/$folder"; done
    mount --bind "$root/image" "$root/image"; mount -o remount,bind,ro "$root/image"
    mount -t proc proc "$root/proc"; chmod 755 "$root"; chown ${owner} "$root/home/node"
    exec chroot ${user} "$root" sh -c 'cd "$0" && exec "$@"' '${only('WORKDIR')}' "$@"`;
    const variables = { ...service.env, PATH: '/image/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: only('WORKDIR') };
    // sudo passes no variables on.
    const env = ['env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
    const inImage = (...args: string[]) =>
      promisify(execFile)(program, [
        ...options,
        ...[...env, 'sh', '-c', script, 'sh', root],
        ...JSON.parse(only('ENTRYPOINT')),
        ...args,
      ]);
    expect((await inImage(...JSON.parse(only('CMD')))).stdout).toContain('service-auth COMMAND');
    const [first, second] = [await inImage('token'), await inImage('token')];
    expect(second).toEqual(first);
    expect(service.counts.issued).toBe(1);
  },
);

/** Runs the step with npm itself. The package is the program with its dependencies in it, so that no registry is asked. */
async function installedBy(step: string, prefix: string, folder: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('../src/service-auth.ts', import.meta.url))],
    outdir: join(folder, 'package/dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@service-auth/source'],
    // Dependencies that are CommonJS call it.
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
    },
    external: ['pg-native'],
  });
  const { name, version, type, bin, engines } = manifest;
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version, type, bin, engines }));
  const packed = join(folder, 'packed.tgz');
  execFileSync('tar', ['--create', '--gzip', '--file', packed, '--directory', folder, 'package']);
  const { stdout: npm } = await promisify(execFile)('sh', ['-c', 'command -v npm']);
  mkdirSync(join(folder, 'bin'));
  const write = (command: string, lines: string[]) =>
    writeFileSync(join(folder, 'bin', command), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  // Only the name of the published package is replaced.
  const lines = ['for given in "$@"; do shift', `[ "$given" = "${name}@1.2.3" ] && given='${packed}'`];
  write('npm', [...lines, 'set -- "$@" "$given"; done', `exec '${npm.trim()}' "$@"`]);
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    VERSION: '1.2.3',
    npm_config_prefix: prefix,
    npm_config_cache: join(folder, 'cache'),
  };
  await promisify(execFile)('sh', ['-c', step.replace(/\\\r?\n/g, ' ')], { env });
}
