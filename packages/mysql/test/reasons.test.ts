// What the store says when the server or the driver refuses a call.
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { createPool as createMariadbPool } from 'mariadb';
import mysql2, { type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTable, mysqlStore } from '../src/index.ts';

const mariadb = await orSkip(() => startMariadb({ 'max-connections': '10' }));
afterAll(() => mariadb?.stop());
const url = mariadb?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(settings: PoolOptions = {}): Pool {
  const pool = mysql2.createPool({ uri: url, connectionLimit: 2, ...settings });
  endings.push(() => pool.end());
  return pool;
}

const password = 'canary-password';

async function failureOf(pool: Parameters<typeof mysqlStore>[0]): Promise<unknown> {
  const error = await mysqlStore(pool)
    .load('key')
    .catch((error: Error) => error);
  expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/canary-password|guest/);
  return error;
}

describe.runIf(mariadb)('the error of a call', () => {
  beforeAll(async () => {
    const pool = mysql2.createPool({ uri: url });
    await createTable(pool);
    await pool.query(`create user guest@'127.0.0.1' identified by '${password}'`);
    await pool.query("grant usage on *.* to guest@'127.0.0.1'");
    await pool.query("create user reader@'127.0.0.1'");
    await pool.query("grant select on test.* to reader@'127.0.0.1'");
    await pool.end();
  });

  test.each([
    ['the database', { user: 'guest', password }, 'ER_DBACCESS_DENIED_ERROR'],
    ['the procedures', { user: 'reader' }, 'ER_PROCACCESS_DENIED_ERROR'],
  ])('of a user without a right to %s names the rights', async (_, settings, code) => {
    expect(await failureOf(connect(settings))).toMatchObject({
      name: 'MissingRights',
      code,
      advice: expect.stringContaining('select, insert and update on the table'),
    });
  });

  test('of a user who may not create the table names the rights', async () => {
    await expect(createTable(connect({ user: 'reader' }), { table: 'another' })).rejects.toMatchObject({
      name: 'MissingRights',
      code: 'ER_TABLEACCESS_DENIED_ERROR',
    });
  });

  test('of a user with another password says so', async () => {
    expect(await failureOf(connect({ user: 'guest', password: `no ${password}` }))).toMatchObject({
      name: 'WrongPassword',
      code: 'ER_ACCESS_DENIED_ERROR',
    });
  });

  test('of a server without a free connection says so', async () => {
    const holders = connect({ connectionLimit: 11 });
    const held = await Promise.allSettled(Array.from({ length: 11 }, () => holders.getConnection()));
    expect(await failureOf(connect())).toMatchObject({ name: 'TooManyConnections', code: 'ER_CON_COUNT_ERROR' });
    for (const each of held) if (each.status === 'fulfilled') each.value.release();
  });

  test('of a pool that was ended says so', async () => {
    const pool = mysql2.createPool({ uri: url });
    await pool.end();
    expect(await failureOf(pool)).toMatchObject({ name: 'ClosedClient' });
  });

  test('of a pool without a free connection says so', async () => {
    const pool = connect({ connectionLimit: 1, queueLimit: 1 });
    const holder = await pool.getConnection();
    const waiting = pool.query('select 1');
    expect(await failureOf(pool)).toMatchObject({ name: 'ExhaustedPool' });
    holder.release();
    await waiting;
  });

  test('to an address where nothing listens says so', async () => {
    const pool = mysql2.createPool({ uri: `mysql://guest:${password}@127.0.0.1:9/test` });
    expect(await failureOf(pool)).toMatchObject({ name: 'Unreachable', code: 'ECONNREFUSED' });
  });

  test.each([
    ['that was ended', 'ClosedClient', (pool: { end(): Promise<unknown> }) => pool.end()],
    [
      'without a free connection',
      'ExhaustedPool',
      (pool: { getConnection(): Promise<unknown> }) => pool.getConnection(),
    ],
  ])('of a pool of mariadb %s says so', async (_, name, prepare) => {
    const { port } = new URL(url);
    const settings = { host: '127.0.0.1', port: Number(port), user: 'test', database: 'test' };
    const pool = createMariadbPool({ ...settings, connectionLimit: 1, acquireTimeout: 100 });
    const connection = await prepare(pool);
    expect(await failureOf(pool)).toMatchObject({ name });
    await (connection as { release?(): Promise<void> } | undefined)?.release?.();
    await pool.end().catch(() => {});
  });
});
