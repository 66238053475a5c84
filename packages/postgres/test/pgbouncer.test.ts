import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPgBouncer } from '@service-auth/test-tools/servers/pgbouncer';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { storeContract } from '@service-auth/testing';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { createTable, postgresStore, type Queryable } from '../src/index.ts';

const modes = ['session', 'transaction', 'statement'] as const;

const server = await orSkip(() => startPostgres());
const poolers = await orSkip(async () => {
  if (!server) throw new Error('there is no PostgreSQL for a PgBouncer');
  return Promise.all(modes.map(async (mode) => ({ mode, pooler: await startPgBouncer(server, mode) })));
});
if (server) {
  const client = new pg.Client(server.url);
  await client.connect();
  await createTable(client);
  await client.end();
}
afterAll(async () => {
  for (const { pooler } of poolers ?? []) await pooler.stop();
  await server?.stop();
});

interface Connection {
  readonly pool: Queryable;
  close(): Promise<void>;
}

const drivers: Record<string, (url: string) => Connection> = {
  pg(url) {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    return { pool, close: () => pool.end() };
  },
  postgres(url) {
    const sql = postgres(url, { max: 4 });
    const pool = { query: async (text: string, values: string[]) => ({ rows: await sql.unsafe(text, values) }) };
    return { pool, close: () => sql.end() };
  },
};

for (const { mode, pooler } of poolers ?? []) {
  for (const [driver, connect] of Object.entries(drivers)) {
    describe(`the contract of stores, with ${driver} through PgBouncer in ${mode} mode`, () => {
      const cases = storeContract(async () => {
        const opened: Connection[] = [];
        async function another() {
          const connection = connect(pooler.url);
          opened.push(connection);
          return postgresStore(connection.pool);
        }
        return { store: await another(), another, close: () => Promise.all(opened.map(({ close }) => close())) };
      });
      for (const { name, run } of cases) test(name, run);
    });
  }
}

test.runIf(poolers)('the error says to look at the pooler if that has no connection to the database', async () => {
  const address = new URL(poolers?.[0]?.pooler.url ?? '');
  address.pathname = '/missing';
  const pool = new pg.Pool({ connectionString: address.href });
  pool.on('error', () => {});
  await expect(postgresStore(pool).load('key')).rejects.toMatchObject({
    name: 'PoolerWithoutServer',
    code: '08P01',
    advice: expect.stringContaining('PgBouncer'),
  });
  await pool.end();
});
