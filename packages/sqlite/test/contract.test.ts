import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { movedByDate } from '@service-auth/test-support/store-time';
import { storeContract } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { createTable, sqliteStore } from '../src/index.ts';
import { type Connection, openers } from './databases.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

for (const [index, [name, openFile]] of Object.entries(openers).entries()) {
  describe(`the contract of stores, with ${name}`, () => {
    const file = join(folder, `${index}.db`);
    const cases = storeContract(async () => {
      const opened: Connection[] = [];
      async function another() {
        const connection = openFile(file);
        opened.push(connection);
        await createTable(connection.database);
        return sqliteStore(connection.database);
      }
      return {
        store: await another(),
        another,
        close: async () => {
          for (const { close } of opened) close();
        },
      };
    });
    for (const { name, run } of cases) test(name, run);

    test('the clock of the store does not follow the Date of this process', async () => {
      const { database, close } = openFile(file);
      expect(await movedByDate(sqliteStore(database))).toBeLessThan(60_000);
      close();
    });
  });
}
