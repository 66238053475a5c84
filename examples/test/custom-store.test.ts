import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { controls, type OpenStore, storeContract, storeMistakes } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { sqliteStore } from '../custom-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the store of custom-store.ts', () => {
  const open: OpenStore = async () => {
    const databases: DatabaseSync[] = [];
    async function another() {
      const database = new DatabaseSync(join(folder, 'store.db'));
      databases.push(database);
      return sqliteStore(database);
    }
    async function close() {
      for (const database of databases) database.close();
    }
    return { store: await another(), another, close };
  };
  test.each(storeContract(open))('$name', ({ run }) => run());
  test.each(controls(storeContract, open, storeMistakes))('$name', { timeout: 20_000 }, ({ run }) => run());

  test('is the one that the documentation shows', () => {
    const code = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    expect(code('docs/choosing-a-store.md')).toContain(`\`\`\`ts\n${code('examples/custom-store.ts')}\`\`\`\n`);
  });
});
