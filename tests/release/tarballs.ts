import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inParallel } from '../support/tools/in-parallel.ts';
import { type Entry, root } from '../support/tools/packages/packages.ts';
import { type Published, readFromTarball } from './publish.ts';

const execute = promisify(execFile);

/** Returns what publint, Are The Types Wrong and we find wrong with packages as they are published. */
export async function judgeTarballs(published: readonly Published[]): Promise<string[]> {
  const problems: string[] = [];
  const judge = async (command: string, ...argv: string[]) => {
    await execute(command, argv, { cwd: root }).catch(({ stdout, stderr }) => {
      problems.push(`${command} ${argv.join(' ')}\n${stdout}${stderr}`);
    });
  };
  await inParallel(published, async ({ manifest, tarball }) => {
    problems.push(
      ...wrongVersions(manifest.version, readFromTarball(tarball, 'README.md')).map(
        (line) => `The README of ${manifest.name}: ${line}`,
      ),
    );
    await judge('publint', 'run', tarball, '--strict');
    const entries = Object.values(manifest.exports).filter((entry): entry is Entry => typeof entry !== 'string');
    // A program has no types.
    if (entries.length === 0) return;
    await judge(
      'attw',
      tarball,
      '--no-emoji',
      '--profile',
      entries.some(({ require }) => require) ? 'strict' : 'esm-only',
    );
  });
  return problems;
}

/** The lines that name another version of our packages than the one that is published. */
export function wrongVersions(version: string, readme: string): string[] {
  const named = /(?:@service-auth\/[\w-]+@[\^~]?|Service Auth )(\d+(?:\.\d+)*)/g;
  return readme.split('\n').filter((line) => [...line.matchAll(named)].some(([, name]) => name !== version));
}
