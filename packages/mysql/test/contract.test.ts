import { movedByDate } from '@service-auth/test-support/store-time';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { storeContract } from '@service-auth/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTable, mysqlStore } from '../src/index.ts';
import { type Connection, drivers } from './drivers.ts';

const given = process.env['MYSQL_URL'];
const server = given ? undefined : await orSkip(() => startMariadb());
const url = given ?? server?.url ?? '';
const table = 'contract';
beforeAll(async () => {
  if (!url) return;
  const { pool, close } = drivers.mysql2(url);
  await createTable(pool, { table });
  await close();
});
afterAll(() => server?.stop());

for (const [name, connect] of Object.entries(drivers)) {
  describe.runIf(url)(`the contract of stores, with ${name}`, () => {
    const cases = storeContract(async () => {
      const opened: Connection[] = [];
      async function another() {
        const connection = connect(url);
        opened.push(connection);
        return mysqlStore(connection.pool, { table });
      }
      return { store: await another(), another, close: () => Promise.all(opened.map(({ close }) => close())) };
    });
    for (const { name, run } of cases) test(name, run);

    test('the clock of the store does not follow the Date of this process', async () => {
      const { pool, close } = connect(url);
      expect(await movedByDate(mysqlStore(pool, { table }))).toBeLessThan(60_000);
      await close();
    });
  });
}
