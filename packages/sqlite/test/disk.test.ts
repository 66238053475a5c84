import { orSkip } from '@service-auth/test-tools/or-skip';
import { privateMounts } from '@service-auth/test-tools/private-mounts';
import { describe, expect, test } from 'vitest';

const runMounted = await orSkip(privateMounts);

describe.runIf(runMounted)('a disk', () => {
  test.each([
    ['delete', ['ReadOnlyDatabase', 'third']],
    // SQLite creates two files beside a database with a write-ahead log before it reads.
    ['wal', ['UnusableFile', 'UnusableFile']],
  ])(
    'that is full or read-only makes writing reject, and the record stays: journal_mode %s',
    async (mode, whenReadOnly) => {
      const report = await runMounted?.(new URL('mounted.ts', import.meta.url), mode);
      expect(report).toEqual([true, 'FullDisk', 'first', true, ...whenReadOnly]);
    },
  );
});
