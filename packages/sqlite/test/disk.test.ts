import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);

/** The command of this machine that can open a private mount namespace. */
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
  test.each([
    ['delete', ['ReadOnlyDatabase', 'third']],
    // SQLite creates two files beside a database with a write-ahead log before it reads.
    ['wal', ['UnusableFile', 'UnusableFile']],
  ])(
    'that is full or read-only makes writing reject, and the record stays: journal_mode %s',
    async (mode, whenReadOnly) => {
      const [program = '', ...options] = unshare ?? [];
      const mountPoint = mkdtempSync(join(tmpdir(), 'service-auth-disk-'));
      const script = fileURLToPath(new URL('mounted.ts', import.meta.url));
      const node = [process.execPath, '--conditions=@service-auth/source', script, mountPoint, mode];
      const { stdout } = await run(program, [...options, ...node]).finally(() =>
        rmSync(mountPoint, { recursive: true }),
      );
      expect(JSON.parse(stdout)).toEqual([true, 'FullDisk', 'first', true, ...whenReadOnly]);
    },
  );
});
