import { movedByDate } from '@service-auth/test-support/store-time';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { storeContract } from '@service-auth/testing';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTable, postgresStore, type Queryable } from '../src/index.ts';

const given = process.env['POSTGRES_URL'];
const server = given ? undefined : await orSkip(() => startPostgres());
const url = given ?? server?.url ?? '';
beforeAll(async () => {
  if (!url) return;
  const { pool, close } = poolOf('');
  await createTable(pool, { table: 'contract' });
  await close();
});
afterAll(() => server?.stop());

interface Connection {
  readonly pool: Queryable;
  close(): Promise<void>;
}

function poolOf(settings: string): Connection {
  const pool = new pg.Pool({ connectionString: url, max: 4, options: settings });
  return { pool, close: () => pool.end() };
}

const connections: Record<string, () => Connection> = {
  pg: () => poolOf(''),
  'pg, whose sessions are repeatable read by default': () =>
    poolOf('-c default_transaction_isolation=repeatable\\ read'),
  'pg, whose sessions are serializable by default': () => poolOf('-c default_transaction_isolation=serializable'),
  postgres() {
    const sql = postgres(url, { max: 4 });
    const pool = { query: async (text: string, values: string[]) => ({ rows: await sql.unsafe(text, values) }) };
    return { pool, close: () => sql.end() };
  },
};

for (const [name, connect] of Object.entries(connections)) {
  describe.runIf(url)(`the contract of stores, with ${name}`, () => {
    const cases = storeContract(async () => {
      const opened: Connection[] = [];
      async function another() {
        const connection = connect();
        opened.push(connection);
        return postgresStore(connection.pool, { table: 'contract' });
      }
      return { store: await another(), another, close: () => Promise.all(opened.map(({ close }) => close())) };
    });
    for (const { name, run } of cases) test(name, run);

    test('the clock of the store does not follow the Date of this process', async () => {
      const { pool, close } = connect();
      expect(await movedByDate(postgresStore(pool, { table: 'contract' }))).toBeLessThan(60_000);
      await close();
    });
  });
}
