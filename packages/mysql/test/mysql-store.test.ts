import { randomUUID } from 'node:crypto';
import { expectAborts } from '@service-auth/test-support/silent-store';
import {
  expectFewCalls,
  expectMissingTable,
  expectOneToken,
  expectStoreDeadline,
} from '@service-auth/test-support/store-checks';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { type MariadbSettings, startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import mysql2, { type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createTable, createTableSql, mysqlStore } from '../src/index.ts';

const mariadb = await orSkip(() => startMariadb());
afterAll(() => mariadb?.stop());
const url = mariadb?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(settings: PoolOptions = {}): Pool {
  const pool = mysql2.createPool({ uri: url, connectionLimit: 4, ...settings });
  endings.push(() => pool.end());
  return pool;
}

async function start(settings: MariadbSettings = {}) {
  const server = await startMariadb(settings);
  endings.push(() => server.stop());
  return server;
}

/** A table of its own. */
async function freshTable(pool: Pool): Promise<{ table: string }> {
  const options = { table: `test_${randomUUID().replaceAll('-', '')}` };
  await createTable(pool, options);
  return options;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

test('messages name the table', () => {
  const pool = { query: async () => [] };
  expect(mysqlStore(pool).name).toBe('table `service_auth`');
  expect(mysqlStore(pool, { table: 'app.tokens' }).name).toBe('table `app`.`tokens`');
});

test('the same pool and table give the same store, so that clients share its reads', () => {
  const pool = { query: async () => [] };
  expect(mysqlStore(pool)).toBe(mysqlStore(pool, { table: 'service_auth' }));
  expect(mysqlStore(pool)).not.toBe(mysqlStore(pool, { table: 'tokens' }));
  expect(mysqlStore(pool)).not.toBe(mysqlStore({ ...pool }));
});

test.each([[undefined], ['mysql://127.0.0.1/db'], [mysql2], [{ query() {}, acquireConnection() {} }]])(
  '%o is refused as a pool at once',
  async (pool) => {
    const problem = new TypeError(
      '[service-auth/mysql] mysqlStore(pool) takes a pool of mysql2 or mariadb, not its URL.',
    );
    expect(() => mysqlStore(pool as never)).toThrow(problem);
    await expect(createTable(pool as never)).rejects.toThrow(problem);
  },
);

test('a pool that has only callbacks is refused with the pools to take', async () => {
  const store = mysqlStore({ query: () => undefined });
  await expect(store.load('key')).rejects.toMatchObject({
    name: 'CallbackPool',
    advice: expect.stringContaining("not of 'mariadb/callback'"),
  });
});

describe.runIf(mariadb)('the table', () => {
  test('is created once, by however many processes at once', async () => {
    const pools = Array.from({ length: 8 }, () => connect({ connectionLimit: 1 }));
    await Promise.all(pools.map((pool) => pool.query('select 1')));
    // Their interleaving differs between runs.
    for (let round = 1; round <= 5; round += 1) {
      const options = { table: `created_at_once_${round}` };
      await Promise.all(pools.map((pool) => createTable(pool, options)));
      await Promise.all(pools.map((pool) => createTable(pool, options)));
      expect(await mysqlStore(connect(), options).swap('key', change('1'))).toMatchObject({ swapped: true });
    }
  });

  test('may be in another database, and be created by hand', async () => {
    const pool = connect();
    const options = { table: 'security.Tokens_2' };
    await pool.query('create database security default character set latin1');
    for (const sql of createTableSql(options)) await pool.query(sql);
    await mysqlStore(pool, options).swap('key', change('1'));
    const [rows] = await pool.query('select cast(record as char) as record from security.Tokens_2');
    expect(rows).toEqual([{ record: 'record of 1' }]);
  });

  test('has a name that is a name', () => {
    const pool = connect();
    for (const table of ['', 'a`b', 'a'.repeat(60)]) {
      expect(() => mysqlStore(pool, { table }), table).toThrow(TypeError);
      expect(() => createTableSql({ table }), table).toThrow('[service-auth/mysql] table must be a name');
    }
    expect(mysqlStore(pool, { table: 'a'.repeat(59) }).durability).toBe('durable');
  });

  test('that is missing is reported as what it is, and core says so', async () => {
    const store = mysqlStore(connect(), { table: 'never_created' });
    const missing = {
      name: 'MissingTable',
      code: 'ER_SP_DOES_NOT_EXIST',
      advice: expect.stringContaining('createTable'),
    };
    await expectMissingTable(store, missing, /\(MissingTable ER_SP_DOES_NOT_EXIST\).*run createTable\(\)/);
  });

  test('was dropped, but not its procedures', async () => {
    const pool = connect();
    const options = await freshTable(pool);
    await pool.query(`drop table ${options.table}`);
    await expect(mysqlStore(pool, options).load('key')).rejects.toMatchObject({ name: 'MissingTable' });
    await createTable(pool, options);
    expect(await mysqlStore(pool, options).load('key')).not.toHaveProperty('version');
  });
});

test.runIf(mariadb)('a user needs to select, insert, update and execute, and no more', async () => {
  const administrator = connect();
  const { table } = await freshTable(administrator);
  await administrator.query("create user fleet@'127.0.0.1'");
  await administrator.query(`grant select, insert, update on ${table} to fleet@'127.0.0.1'`);
  for (const name of ['load', 'swap']) {
    await administrator.query(`grant execute on procedure ${table}_${name} to fleet@'127.0.0.1'`);
  }
  const store = mysqlStore(connect({ user: 'fleet' }), { table });
  expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  expect(await store.swap('key', change('2', '1'))).toMatchObject({ swapped: true });
  expect(await store.load('key')).toMatchObject({ version: '2' });
});

describe.runIf(mariadb)('a transaction of the application', () => {
  test('on the connection of the store makes it reject, and goes on', async () => {
    const connection = await connect().getConnection();
    endings.push(() => connection.destroy());
    const options = await freshTable(connect());
    const store = mysqlStore(connection as never, options);
    await connection.query('create table if not exists orders (id int primary key)');
    await connection.beginTransaction();
    await connection.query('replace into orders values (1)');
    const refusal = {
      name: 'OpenTransaction',
      advice: expect.stringContaining('a pool on which no transaction is begun'),
    };
    await expect(store.swap('key', change('1'))).rejects.toMatchObject(refusal);
    await expect(store.load('key')).rejects.toMatchObject(refusal);
    await connection.query('replace into orders values (2)');
    await connection.rollback();
    expect((await connection.query('select id from orders'))[0]).toEqual([]);
    expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
    await connection.rollback();
    expect(await store.load('key')).toMatchObject({ version: '1' });
  });
});

describe.runIf(mariadb)('an acknowledged swap', () => {
  test('survives kill -9 of the server, with a binary log of statements', async () => {
    const server = await start({ 'log-bin': 'binlog', 'sync-binlog': '1', 'binlog-format': 'STATEMENT' });
    const pool = connect({ uri: server.url });
    const options = await freshTable(pool);
    const store = mysqlStore(pool, options);
    expect(await store.load('key')).toMatchObject({ warnings: [] });
    await store.swap('created', change('1'));
    await store.swap('replaced', change('1'));
    await store.swap('replaced', change('2', '1'));
    await server.kill();
    await server.restart();
    const found = async (key: string): Promise<unknown> => store.load(key).catch(() => found(key));
    expect(await found('created')).toMatchObject({ version: '1' });
    expect(await found('replaced')).toMatchObject({ version: '2', record: 'record of 2' });
  });

  test('may be lost with these settings, and the store warns of each', async () => {
    const server = await start({
      ...{ 'innodb-flush-log-at-trx-commit': '2', 'log-bin': 'binlog', 'sync-binlog': '0' },
      'max-allowed-packet': '1M',
    });
    const pool = connect({ uri: server.url });
    await createTable(pool);
    const { warnings } = await mysqlStore(pool).load('key');
    expect(warnings).toEqual([
      'innodb_flush_log_at_trx_commit is 2: a crash may lose the newest tokens. Set it to 1.',
      'sync_binlog is 0: with the binary log, a crash of the machine may lose the newest tokens. Set it to 1.',
      'max_allowed_packet is 1048576: large records cannot be written. Set it to 4194304 or more.',
    ]);
  });
});

describe.runIf(mariadb)('a server that cannot answer as it should', () => {
  test('because it is a read-only replica', async () => {
    const server = await start();
    const administrator = connect({ uri: server.url });
    await createTable(administrator);
    await administrator.query("create user fleet@'127.0.0.1'");
    await administrator.query("grant select, insert, update, execute on test.* to fleet@'127.0.0.1'");
    await administrator.query('set global read_only = 1');
    const store = mysqlStore(connect({ uri: server.url.replace('test@', 'fleet@') }));
    expect(await store.load('key')).toMatchObject({ now: expect.any(Number) });
    await expect(store.swap('key', change('1'))).rejects.toMatchObject({
      name: 'ReadOnlyServer',
      code: 'ER_OPTION_PREVENTS_STATEMENT',
      advice: expect.stringContaining('connect to the primary server'),
    });
  });

  test('is used again as soon as it is back', async () => {
    const server = await start();
    const pool = connect({ uri: server.url });
    const store = mysqlStore(pool, await freshTable(pool));
    await store.swap('key', change('1'));
    await server.kill();
    await expect(store.load('key')).rejects.toThrow();
    await server.restart();
    const found = async (): Promise<unknown> => store.load('key').catch(found);
    expect(await found()).toMatchObject({ version: '1' });
  });

  test('because it went silent: the deadline of core ends every wait of the pool', async () => {
    const relay = await startRelay(mariadb?.port ?? 0);
    endings.push(() => relay.close());
    const pool = connect({ uri: url.replace(`${mariadb?.port}`, `${relay.port}`) });
    const store = mysqlStore(pool, await freshTable(pool));
    await expectStoreDeadline(store, relay);
  });

  test('and a caller whose signal aborts', async () => {
    const relay = await startRelay(mariadb?.port ?? 0);
    endings.push(() => relay.close());
    const pool = connect({ uri: url.replace(`${mariadb?.port}`, `${relay.port}`) });
    const store = mysqlStore(pool, await freshTable(pool));
    await expectAborts(store, relay);
    relay.set('pass');
  });
});

describe.runIf(mariadb)('clients over one database', () => {
  test('share one token and one count', async () => {
    const pool = connect();
    const options = await freshTable(pool);
    await expectOneToken(() => mysqlStore(pool, options));
  });

  test('cost: who issues, one load, two swaps, one token request; who adopts, one load; each one statement', async () => {
    const pool = connect();
    const options = await freshTable(pool);
    const statements: string[] = [];
    const counted = mysqlStore(
      {
        query(text: string, values: unknown[]) {
          statements.push(/_(load|swap)`\(/.exec(text)?.[1] ?? text);
          return pool.query(text, values);
        },
      },
      options,
    );
    await expectFewCalls(counted, statements);
  });
});
