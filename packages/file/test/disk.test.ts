import { orSkip } from '@service-auth/test-tools/or-skip';
import { privateMounts } from '@service-auth/test-tools/private-mounts';
import { describe, expect, test } from 'vitest';

const runMounted = await orSkip(privateMounts);

describe.runIf(runMounted)('a disk', () => {
  test('that is full or read-only makes writing reject with what to do, and the record stays', async () => {
    expect(await runMounted?.(new URL('mounted.ts', import.meta.url))).toEqual({
      first: true,
      full: { code: 'ENOSPC', message: expect.stringContaining('the disk is full; free some space') },
      keptWhenFull: 'first',
      afterwards: true,
      readOnly: { code: 'EROFS', message: expect.stringContaining('read-only; choose a directory') },
      keptWhenReadOnly: 'third',
    });
  });
});
