// What the store says when the server or the driver refuses a call.
import { once } from 'node:events';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTable, postgresStore } from '../src/index.ts';

const postgres = await orSkip(() => startPostgres({ max_connections: '12', superuser_reserved_connections: '1' }));
afterAll(() => postgres?.stop());
const url = postgres?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(settings: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2, ...settings });
  pool.on('error', () => {});
  endings.push(() => pool.ended || pool.end());
  return pool;
}

const change = { version: '1', record: 'record' };
const guest = () => connect({ connectionString: url.replace('test@', 'guest@') });

describe.runIf(postgres)('the error of a call', () => {
  beforeAll(async () => {
    const pool = new pg.Pool({ connectionString: url });
    await createTable(pool);
    await pool.query('create role guest login');
    await pool.query("create role stranger login password 'canary-password'");
    await pool.end();
  });

  test('that the user has no right to make names the rights', async () => {
    await expect(postgresStore(guest()).load('key')).rejects.toMatchObject({
      name: 'MissingRights',
      code: '42501',
      advice: expect.stringContaining('select, insert and update on the table'),
    });
  });

  test('that a server refused because it is read-only says to connect to the primary', async () => {
    const pool = connect({ options: '-c default_transaction_read_only=on' });
    await expect(postgresStore(pool).swap('key', change)).rejects.toMatchObject({
      name: 'ReadOnlyServer',
      code: '25006',
      advice: expect.stringContaining('connect to the primary server'),
    });
  });

  test('to a server without a free connection says so', async () => {
    const administrator = connect({ max: 1 });
    const setting = (name: string) => `coalesce(current_setting('${name}', true)::int, 0)`;
    const free = `${setting('max_connections')} - ${setting('superuser_reserved_connections')} - ${setting('reserved_connections')} - 1`;
    const { rows } = await administrator.query<{ places: number }>(`select ${free} as places`);
    const places = rows[0]?.places ?? 0;
    const holders = connect({ max: places, connectionString: url.replace('test@', 'guest@') });
    let held = 0;
    const hold = (client: pg.PoolClient) => {
      held += 1;
      endings.push(() => client.release());
    };
    // Connections of the tests before end on the server a moment after their clients are gone, and a place is free then.
    await expect
      .poll(() =>
        holders
          .connect()
          .then(hold, () => {})
          .then(() => held),
      )
      .toBe(places);
    await expect(postgresStore(guest()).load('key')).rejects.toMatchObject({
      name: 'TooManyConnections',
      code: '53300',
      advice: expect.stringContaining('pooler'),
    });
  });

  test.each([
    ['the server', { statement_timeout: 50 }, '57014'],
    ['the driver', { query_timeout: 50 }, undefined],
  ])('that %s ended as too slow says so', async (_, settings, code) => {
    const holder = await connect().connect();
    await holder.query('begin; lock table service_auth');
    const failure = postgresStore(connect(settings)).load('key');
    await expect(failure).rejects.toMatchObject({ name: 'SlowAnswer', code });
    await holder.query('rollback');
    holder.release();
  });

  test('for which the pool had no connection says so', async () => {
    const pool = connect({ max: 1, connectionTimeoutMillis: 1_000 });
    const holder = await pool.connect();
    await expect(postgresStore(pool).load('key')).rejects.toMatchObject({ name: 'ExhaustedPool' });
    holder.release();
  });

  test('on a pool that was ended says so', async () => {
    const pool = connect();
    await pool.end();
    await expect(postgresStore(pool).load('key')).rejects.toMatchObject({ name: 'ClosedClient' });
  });

  test('whose connection broke says so', async () => {
    const relay = await startRelay(postgres?.port ?? 0);
    endings.push(() => relay.close());
    const store = postgresStore(connect({ connectionString: url.replace(`${postgres?.port}`, `${relay.port}`) }));
    await store.load('key');
    relay.set('deaf');
    await expect(store.load('key')).rejects.toMatchObject({ name: 'LostConnection' });
  });

  test('to an address where nothing listens says so, without the password of the address', async () => {
    const error = await postgresStore(connect({ connectionString: 'postgres://user:canary-password@127.0.0.1:9/db' }))
      .load('key')
      .catch((error: Error) => error);
    expect(error).toMatchObject({ name: 'Unreachable', code: 'ECONNREFUSED' });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain('canary-password');
  });

  test('of a database that is missing says so', async () => {
    const pool = connect({ connectionString: url.replace(/postgres$/, 'nowhere') });
    await expect(postgresStore(pool).load('key')).rejects.toMatchObject({ name: 'MissingDatabase', code: '3D000' });
  });

  test('whose caller gave up is the reason of its signal', async () => {
    const controller = new AbortController();
    const reason = Object.assign(new Error('Query read timeout'), { code: '42501' });
    controller.abort(reason);
    await expect(postgresStore(connect()).load('key', controller)).rejects.toBe(reason);
  });
});

describe('a transaction of the application', () => {
  test.each([
    ['a transaction of PGlite', { query() {}, exec() {}, rollback() {} }],
    ['a transaction with commit()', { query() {}, commit() {} }],
  ])('is refused as a pool: %s', (_, pool) => {
    expect(() => postgresStore(pool as never)).toThrow(/^\[service-auth\/postgres\] .* within a transaction/);
  });

  test.runIf(postgres).each(['begin', 'begin; select 1/0'])(
    'is refused as a pool: a client after "%s"',
    async (sql) => {
      const client = await connect().connect();
      endings.push(() => client.release(true));
      postgresStore(client);
      // The error of a query comes before the server says in which state the connection is.
      await Promise.all([once(client, 'drain'), client.query(sql).catch(() => {})]);
      expect(() => postgresStore(client)).toThrow(/^\[service-auth\/postgres\] .* within a transaction/);
    },
  );

  test.runIf(postgres)('that begins later makes both methods reject, and goes on', async () => {
    const client = await connect().connect();
    endings.push(() => client.release(true));
    await client.query('create table if not exists orders (id int)');
    const store = postgresStore(client);
    await client.query('begin');
    const refusal = {
      name: 'OpenTransaction',
      advice: expect.stringContaining('a pool on which no transaction is begun'),
    };
    await expect(store.swap('in transaction', change)).rejects.toMatchObject(refusal);
    await expect(store.load('in transaction')).rejects.toMatchObject(refusal);
    await client.query('insert into orders values (1)');
    await client.query('commit');
    expect(await store.swap('in transaction', change)).toMatchObject({ swapped: true });
  });

  test.runIf(postgres)('that has written, on a client that does not tell it, makes a swap reject', async () => {
    const client = await connect().connect();
    endings.push(() => client.release(true));
    const store = postgresStore({ query: (text, values) => client.query(text, values) });
    await client.query('create table if not exists orders (id int)');
    await client.query('begin');
    await client.query('insert into orders values (1)');
    await expect(store.swap('hidden', change)).rejects.toMatchObject({ name: 'OpenTransaction', code: '25001' });
    await client.query('rollback');
    expect(await store.load('hidden')).not.toHaveProperty('version');
  });
});
