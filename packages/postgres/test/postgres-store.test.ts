import { randomUUID } from 'node:crypto';
import { createServiceAuth, type ServiceAuthEvent } from '@service-auth/core';
import { expectAborts } from '@service-auth/test-support/silent-store';
import {
  expectFewCalls,
  expectMissingTable,
  expectOneToken,
  expectStoreDeadline,
} from '@service-auth/test-support/store-checks';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { type PostgresSettings, startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { startTestService } from '@service-auth/testing';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createTable, createTableSql, postgresStore } from '../src/index.ts';

const postgres = await orSkip(() => startPostgres());
afterAll(() => postgres?.stop());
const url = postgres?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(settings: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4, ...settings });
  pool.on('error', () => {});
  endings.push(() => pool.end());
  return pool;
}

async function start(settings: PostgresSettings = {}) {
  const server = await startPostgres(settings);
  endings.push(() => server.stop());
  return server;
}

test('messages name the table', () => {
  const pool = { query: async () => ({ rows: [] }) };
  expect(postgresStore(pool).name).toBe('table "service_auth"');
  expect(postgresStore(pool, { table: 'app.tokens' }).name).toBe('table "app"."tokens"');
});

test('the same pool and table give the same store, so that clients share its reads', () => {
  const pool = { query: async () => ({ rows: [] }) };
  expect(postgresStore(pool)).toBe(postgresStore(pool, { table: 'service_auth' }));
  expect(postgresStore(pool)).not.toBe(postgresStore(pool, { table: 'tokens' }));
  expect(postgresStore(pool)).not.toBe(postgresStore({ ...pool }));
});

/** A table of its own. */
async function freshTable(pool: pg.Pool): Promise<{ table: string }> {
  const options = { table: `test_${randomUUID().replaceAll('-', '')}` };
  await createTable(pool, options);
  return options;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

test.each([[undefined], ['postgres://127.0.0.1/db'], [pg]])('%o is refused as a pool at once', (pool) => {
  expect(() => postgresStore(pool as never)).toThrow(
    new TypeError('[service-auth/postgres] postgresStore(pool) takes what has query(), such as a Pool, not its URL.'),
  );
});

describe.runIf(postgres)('the table', () => {
  test('is created once, by however many processes at once', async () => {
    const pools = Array.from({ length: 8 }, () => connect({ max: 1 }));
    // Connected beforehand, so that they really are at once.
    await Promise.all(pools.map((pool) => pool.query('select')));
    // Their interleaving differs between runs.
    for (let round = 1; round <= 10; round += 1) {
      const options = { table: `created_at_once_${round}` };
      await Promise.all(pools.map((pool) => createTable(pool, options)));
      await Promise.all(pools.map((pool) => createTable(pool, options)));
      expect(await postgresStore(connect(), options).swap('key', change('1'))).toMatchObject({ swapped: true });
    }
  });

  test('is not created where something else has its name, and that is no success', async () => {
    const pool = connect();
    await pool.query('create type taken as enum ()');
    await expect(createTable(pool, { table: 'taken' })).rejects.toMatchObject({ code: '42710' });
  });

  test('may be in a schema, and be created by hand', async () => {
    const pool = connect();
    const options = { table: 'security.Tokens_2' };
    await pool.query('create schema security');
    await pool.query(createTableSql(options));
    await postgresStore(pool, options).swap('key', change('1'));
    const { rows } = await pool.query('select * from security."Tokens_2"');
    expect(rows).toEqual([{ key: 'key', ...change('1'), expected: undefined }].map(({ expected: _, ...row }) => row));
  });

  test('has a name that is a name', () => {
    const pool = connect();
    for (const table of ['', 'a"b', 'a'.repeat(59)]) {
      expect(() => postgresStore(pool, { table }), table).toThrow(TypeError);
      expect(() => createTableSql({ table }), table).toThrow(TypeError);
    }
  });

  test('that is missing is reported as what it is, and core says so', async () => {
    const pool = connect();
    const store = postgresStore(pool, { table: 'never_created' });
    const missing = { name: 'MissingTable', code: '42883', message: expect.stringContaining('run createTable()') };
    const told = /\(MissingTable 42883\).* Check the store and try again: run createTable\(\)/;
    await expectMissingTable(store, missing, told);
  });
});

test.runIf(postgres)('a user needs to select, insert and update, and no more', async () => {
  const administrator = connect();
  const options = await freshTable(administrator);
  await administrator.query('create role fleet login');
  await administrator.query(`grant select, insert, update on ${options.table} to fleet`);
  const store = postgresStore(connect({ user: 'fleet', connectionString: url.replace('test@', 'fleet@') }), options);
  expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  expect(await store.swap('key', change('2', '1'))).toMatchObject({ swapped: true });
  expect(await store.load('key')).toMatchObject({ version: '2' });
});

describe.runIf(postgres)('an acknowledged swap', () => {
  test('survives kill -9, also where sessions do not wait for their commits', async () => {
    const server = await start({ synchronous_commit: 'off' });
    const pool = connect({ connectionString: server.url });
    const options = await freshTable(pool);
    const store = postgresStore(pool, options);
    const writers = await pool.query(
      "select pid from pg_stat_activity where backend_type in ('walwriter', 'checkpointer', 'background writer')",
    );
    const pids: number[] = writers.rows.map(({ pid }) => pid);
    const killWriters = () => {
      for (const pid of pids.splice(0)) process.kill(pid, 'SIGKILL');
    };
    endings.push(killWriters);
    // From now on nothing but a commit that waits gets anything out of the memory of this server.
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await store.swap('created', change('1'));
    await store.swap('replaced', change('1'));
    await store.swap('replaced', change('2', '1'));
    // Written last, so that no other commit takes it along: what is lost without our precaution.
    await pool.query(`insert into ${options.table} values ('control', '1', 'record')`);
    expect(await store.load('control')).toMatchObject({ version: '1' });
    await server.kill();
    killWriters();
    await server.restart();
    expect(await store.load('created')).toMatchObject({ version: '1' });
    expect(await store.load('replaced')).toMatchObject({ version: '2', record: 'record of 2' });
    expect(await store.load('control')).not.toHaveProperty('version');
  });

  test('leaves the session as it was', async () => {
    const pool = connect({ max: 1, options: '-c synchronous_commit=off' });
    const store = postgresStore(pool, await freshTable(pool));
    await store.swap('key', change('1'));
    await store.swap('key', change('2', '1'));
    expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
  });
});

describe.runIf(postgres)('a server that cannot answer as it should', () => {
  test('because it is read-only', async () => {
    const pool = connect({ options: '-c default_transaction_read_only=on' });
    const options = await freshTable(connect());
    const store = postgresStore(pool, options);
    expect(await store.load('key')).toEqual({ now: expect.any(Number), warnings: [] });
    await expect(store.swap('key', change('1'))).rejects.toMatchObject({ code: '25006' });
  });

  test('is used again as soon as it is back', async () => {
    const server = await start();
    const pool = connect({ connectionString: server.url });
    const store = postgresStore(pool, await freshTable(pool));
    await store.swap('key', change('1'));
    await server.kill();
    // Its children serve on until they notice.
    const served = async (): Promise<unknown> => store.load('key').then(served);
    await expect(served()).rejects.toThrow();
    await server.restart();
    const found = async (): Promise<unknown> => store.load('key').catch(found);
    expect(await found()).toMatchObject({ version: '1' });
  });

  test('because it went silent: a pool that gives up on queries gets over it', async () => {
    const relay = await startRelay(postgres?.port ?? 0);
    endings.push(() => relay.close());
    // As the README advises; one connection, so that the one that fell silent must be replaced.
    const pool = connect({
      connectionString: url.replace(`${postgres?.port}`, `${relay.port}`),
      max: 1,
      query_timeout: 200,
    });
    const store = postgresStore(pool, await freshTable(connect()));
    await using service = await startTestService();
    const events: ServiceAuthEvent[] = [];
    await using auth = createServiceAuth({ ...service.options, store, onEvent: (event) => events.push(event) });
    await auth.getUsage();

    relay.set('silent');
    const outcome = auth.getToken().catch((error) => error);
    expect(await outcome).toMatchObject({ code: 'ERR_STORE' });
    // The second read uses a new connection, which is silent too.
    expect([relay.counts.silent, service.counts.tokenRequests]).toEqual([2, 0]);

    relay.set('pass');
    await auth.getToken();
    expect(events.map(({ type }) => type)).toEqual([
      'store_failed',
      'token_unavailable',
      'store_recovered',
      'token_issued',
    ]);
  });

  test('because it went silent: the deadline of core ends every wait of the pool', async () => {
    const relay = await startRelay(postgres?.port ?? 0);
    endings.push(() => relay.close());
    const pool = connect({ connectionString: url.replace(`${postgres?.port}`, `${relay.port}`) });
    const store = postgresStore(pool, await freshTable(pool));
    await expectStoreDeadline(store, relay);
  });

  test('and a caller whose signal aborts', async () => {
    const relay = await startRelay(postgres?.port ?? 0);
    endings.push(() => relay.close());
    const pool = connect({ connectionString: url.replace(`${postgres?.port}`, `${relay.port}`) });
    const store = postgresStore(pool, await freshTable(pool));
    await expectAborts(store, relay);
    relay.set('pass');
  });
});

describe.runIf(postgres)('clients over one database', () => {
  test('share one token and one count', async () => {
    const pool = connect();
    const options = await freshTable(pool);
    await expectOneToken(() => postgresStore(pool, options));
  });

  test('cost: who issues, one load, two swaps, one token request; who adopts, one load; each one statement', async () => {
    const pool = connect();
    const options = await freshTable(pool);
    const statements: string[] = [];
    const counted = postgresStore(
      {
        query(text, values) {
          statements.push(/_(load|swap)"\(/.exec(text)?.[1] ?? text);
          return pool.query(text, values);
        },
      },
      options,
    );
    await expectFewCalls(counted, statements);
  });
});
