import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a script with an empty directory, on which it may mount a file system, as its first argument. Resolves with the JSON that it prints. */
export type RunMounted = (script: URL, ...args: readonly string[]) => Promise<unknown>;

/** The command of this machine that opens a private mount namespace. Rejects where nobody may do that. */
export async function privateMounts(): Promise<RunMounted> {
  for (const [program, ...options] of [
    ['unshare', '-rm'],
    ['unshare', '-m'],
    ['sudo', '-n', 'unshare', '-m'],
  ] as const) {
    const mounting = ['sh', '-c', 'mount -t tmpfs tmpfs /tmp'];
    if (!(await run(program, [...options, ...mounting]).catch(() => undefined))) continue;
    return async (script, ...args) => {
      const mountPoint = await mkdtemp(join(tmpdir(), 'service-auth-disk-'));
      const node = [process.execPath, '--conditions=@service-auth/source', fileURLToPath(script), mountPoint, ...args];
      const { stdout } = await run(program, [...options, ...node]).finally(() => rm(mountPoint, { recursive: true }));
      return JSON.parse(stdout);
    };
  }
  throw new Error('no full disk to test on: unshare cannot mount one here');
}
