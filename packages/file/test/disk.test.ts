import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);

/** The commands of this machine that can open a private mount namespace. */
async function findUnshare(): Promise<string[]> {
  for (const command of [
    ['unshare', '-rm'],
    ['unshare', '-m'],
    ['sudo', '-n', 'unshare', '-m'],
  ]) {
    const [program = '', ...options] = command;
    const mounting = ['sh', '-c', 'mount -t tmpfs tmpfs /tmp'];
    if (await run(program, [...options, ...mounting]).catch(() => undefined)) return command;
  }
  throw new Error('no full disk to test on: unshare cannot mount one here');
}

const unshare = await orSkip(findUnshare);

describe.runIf(unshare)('a disk', () => {
  test('that is full or read-only makes writing reject with what to do, and the record stays', async () => {
    const [program = '', ...options] = unshare ?? [];
    const mountPoint = await mkdtemp(join(tmpdir(), 'service-auth-disk-'));
    const script = fileURLToPath(new URL('mounted.ts', import.meta.url));
    const node = [process.execPath, '--conditions=@service-auth/source', script, mountPoint];
    const { stdout } = await run(program, [...options, ...node]).finally(() => rm(mountPoint, { recursive: true }));
    expect(JSON.parse(stdout)).toEqual({
      first: true,
      full: { code: 'ENOSPC', message: expect.stringContaining('the disk is full; free some space') },
      keptWhenFull: 'first',
      afterwards: true,
      readOnly: { code: 'EROFS', message: expect.stringContaining('read-only; choose a directory') },
      keptWhenReadOnly: 'third',
    });
  });
});
