import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileStore } from '@service-auth/file';
import { storeContract } from '@service-auth/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-auth-file-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('the store contract', () => {
  const cases = storeContract(async () => ({
    store: fileStore(directory),
    another: async () => fileStore(directory),
    close: async () => {},
  }));
  test.each(cases)('$name', ({ run }) => run());
});
