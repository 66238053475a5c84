import { createServiceAuth } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPgBouncer } from '@service-auth/test-tools/servers/pgbouncer';
import { type PostgresSettings, startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startTestService } from '@service-auth/testing';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTable, postgresStore } from '../src/index.ts';
import { createStatements } from '../src/statements.ts';

const postgres = await orSkip(() => startPostgres());
afterAll(() => postgres?.stop());

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function start(settings: PostgresSettings) {
  const server = await startPostgres(settings);
  endings.push(() => server.stop());
  return server;
}

function connect(connectionString: string, settings: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 10, ...settings });
  pool.on('error', () => {});
  endings.push(() => pool.end());
  return pool;
}

/** A session of somebody else, which ends before the pools do. */
async function session(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client(connectionString);
  await client.connect();
  endings.push(() => client.end());
  return client;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

/** The number of the store's statements that run on the server now, and the number of those that wait for a lock or a standby. */
async function running(watcher: pg.Client): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int as count from pg_stat_activity where state = 'active' and query like '%service_auth_%' and pid <> pg_backend_pid()`,
  );
  return rows[0].count;
}

/** Asks until the server says what is expected: how fast it notices is up to the server. */
async function untilRunning(watcher: pg.Client, expected: number): Promise<void> {
  while ((await running(watcher)) !== expected) await watcher.query('select pg_sleep(0.01)');
}

/** A signal that a test aborts, and whose abort is no error. */
function deadline() {
  const controller = new AbortController();
  return { signal: controller.signal, pass: () => controller.abort(new Error('the deadline')) };
}

describe.runIf(postgres)('a table that somebody else has locked', () => {
  const url = postgres?.url ?? '';
  let other: pg.Client;
  let watcher: pg.Client;
  beforeEach(async () => {
    await createTable(connect(url));
    [other, watcher] = [await session(url), await session(url)];
    await other.query('truncate service_auth');
  });
  const lock = (mode = 'access exclusive') => other.query(`begin; lock table service_auth in ${mode} mode`);

  test('ends the wait of a load and of a swap on the server, and says so', async () => {
    const store = postgresStore(connect(url));
    await store.swap('key', change('1'));
    await lock();
    const locked = { name: 'LockedTable', code: '55P03', message: expect.stringContaining('pg_locks') };
    await expect(store.load('key')).rejects.toMatchObject(locked);
    await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject(locked);
    await expect(store.swap('other', change('1'))).rejects.toMatchObject(locked);
    await untilRunning(watcher, 0);
    await other.query('rollback');
    expect(await store.load('key')).toMatchObject({ version: '1' });
  });

  test('ends the wait of a swap for its row', async () => {
    const store = postgresStore(connect(url));
    await store.swap('key', change('1'));
    await other.query("begin; select from service_auth where key = 'key' for update");
    await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject({ code: '55P03' });
    expect(await store.load('key')).toMatchObject({ version: '1' });
    await untilRunning(watcher, 0);
  });

  test('ends the wait of a swap for a row that somebody is about to insert', async () => {
    const store = postgresStore(connect(url));
    await other.query("begin; insert into service_auth values ('key', '0', 'record')");
    await expect(store.swap('key', change('1'))).rejects.toMatchObject({ code: '55P03' });
    await other.query('rollback');
    expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  });

  test('is waited for by one load at a time, however many ask, and the others of the pool go on', async () => {
    const pool = connect(url);
    const stores = Array.from({ length: 10 }, () => postgresStore(pool));
    await lock();
    const loads = stores.flatMap((store) => [1, 2, 3, 4, 5].map(() => store.load('key').catch(({ code }) => code)));
    await untilRunning(watcher, 1);
    expect(pool.totalCount).toBe(1);
    expect((await pool.query('select 42 as answer')).rows).toEqual([{ answer: 42 }]);
    // The first one, and the next one for all others.
    expect(await Promise.all(loads)).toEqual(Array.from({ length: 50 }, () => '55P03'));
    await untilRunning(watcher, 0);
  });

  test('leaves the settings of sessions as they were, of sessions in a transaction too', async () => {
    const pool = connect(url, { max: 1, options: '-c lock_timeout=7s -c synchronous_commit=off' });
    const store = postgresStore(pool);
    await store.swap('key', change('1'));
    await lock();
    await expect(store.load('key')).rejects.toMatchObject({ code: '55P03' });
    await other.query('rollback');
    const settings = async () =>
      (
        await pool.query(
          "select current_setting('lock_timeout') as wait, current_setting('synchronous_commit') as sync",
        )
      ).rows;
    expect(await settings()).toEqual([{ wait: '7s', sync: 'off' }]);
    await pool.query('begin');
    await store.swap('key', change('2', '1'));
    await store.load('key');
    expect(await settings()).toMatchObject([{ wait: '7s' }]);
    await pool.query('commit');
    expect(await settings()).toEqual([{ wait: '7s', sync: 'off' }]);
  });

  test('does not fail a caller who has a token', async () => {
    await using service = await startTestService();
    await using auth = createServiceAuth({ ...service.options, store: postgresStore(connect(url)) });
    const token = await auth.getToken();
    await lock();
    expect(await auth.getToken()).toBe(token);
    await using late = createServiceAuth({ ...service.options, store: postgresStore(connect(url)) });
    await expect(late.getToken()).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringMatching(/LockedTable 55P03.*pg_locks/),
    });
    expect(service.counts.tokenRequests).toBe(1);
  });
});

describe.runIf(postgres)('a trigger that sleeps', { timeout: 120_000 }, () => {
  test('keeps its statement running after the deadline, and the pool sends no other one; a statement_timeout of the pool ends it', async () => {
    const { url } = await start({});
    const [administrator, watcher] = [await session(url), await session(url)];
    await createTable(connect(url));
    await administrator.query(`create function sleep() returns trigger language plpgsql
      as 'begin perform pg_sleep(600); return new; end'`);
    await administrator.query(
      'create trigger sleep before insert on service_auth for each row execute function sleep()',
    );
    const pool = connect(url);
    const store = postgresStore(pool);
    const first = deadline();
    const swap = store.swap('key', change('1'), { signal: first.signal });
    await untilRunning(watcher, 1);
    first.pass();
    await expect(swap).rejects.toThrow('the deadline');
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { signal, pass } = deadline();
      const calls = [store.load('key', { signal }), store.swap('key', change('2'), { signal })];
      setImmediate(pass);
      for (const call of calls) await expect(call).rejects.toThrow('the deadline');
    }
    expect([await running(watcher), pool.totalCount]).toEqual([1, 1]);
    await administrator.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
    await untilRunning(watcher, 0);

    const limited = postgresStore(connect(url, { statement_timeout: 100 }));
    await expect(limited.swap('key', change('3'))).rejects.toMatchObject({ code: '57014' });
    await untilRunning(watcher, 0);
  });
});

describe.runIf(postgres)('a synchronous standby that does not answer', { timeout: 120_000 }, () => {
  test('occupies one statement on the server for each client of the service, however many callers ask', async () => {
    const server = await start({ synchronous_standby_names: 'nobody' });
    const local = connect(server.url, { options: '-c synchronous_commit=local' });
    await createTable(local);
    await local.query("insert into service_auth values ('key', '1', 'record of 1')");
    const [administrator, watcher] = [await session(server.url), await session(server.url)];

    const pool = connect(server.url);
    // An administrator ends the wait: the server has committed, but no client learns it.
    const giveUpStandby = () =>
      administrator.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
    endings.push(giveUpStandby);
    const store = postgresStore(pool);
    const first = deadline();
    const swap = store.swap('key', change('2', '1'), { signal: first.signal });
    while ((await watcher.query("select from pg_stat_activity where wait_event = 'SyncRep'")).rowCount !== 1) {
      await watcher.query('select pg_sleep(0.01)');
    }
    first.pass();
    await expect(swap).rejects.toThrow('the deadline');

    // This process sends nothing more; others read what was there before, and do not wait for the row.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const { signal, pass } = deadline();
      const calls = [store.load('key', { signal }), store.swap('key', change(`3 ${attempt}`, '1'), { signal })];
      setImmediate(pass);
      for (const call of calls) await expect(call).rejects.toThrow('the deadline');
      const another = postgresStore(connect(server.url));
      expect(await another.load('key')).toMatchObject({ version: '1' });
      await expect(another.swap('key', change(`4 ${attempt}`, '1'))).rejects.toMatchObject({ code: '55P03' });
      await untilRunning(watcher, 1);
      expect(pool.totalCount).toBe(1);
    }

    await giveUpStandby();
    await untilRunning(watcher, 0);
    expect(await store.load('key')).toMatchObject({ version: '2' });
  });
});

const pooler = await orSkip(async () => {
  if (!postgres) throw new Error('there is no PostgreSQL for a PgBouncer');
  return startPgBouncer(postgres, 'transaction');
});
afterAll(() => pooler?.stop());

test.runIf(pooler)(
  'through PgBouncer in transaction mode no statement outlasts the lock, and no session keeps a setting',
  async () => {
    const url = postgres?.url ?? '';
    await createTable(connect(url));
    const [other, watcher] = [await session(url), await session(url)];
    const pool = connect(pooler?.url ?? '');
    const store = postgresStore(pool);
    await store.load('key');
    await other.query('begin; lock table service_auth in access exclusive mode');
    await expect(store.load('key')).rejects.toMatchObject({ code: '55P03' });
    await expect(store.swap('key', change('1'))).rejects.toMatchObject({ code: '55P03' });
    await untilRunning(watcher, 0);
    await other.query('rollback');
    expect((await pool.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
  },
);

describe('a connection that broke without a word', () => {
  /** A driver whose statements end when a test says so. */
  function createSilentPool() {
    const sent: { text: string; answer: () => void }[] = [];
    const query = (text: string) =>
      new Promise<{ rows: Record<string, unknown>[] }>((resolve) => {
        sent.push({ text, answer: () => resolve({ rows: [{ text }] }) });
      });
    return { sent, pool: { query } };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test('keeps others from being used for 15 seconds, the next one for 30, and so on up to five minutes', async () => {
    const { sent, pool } = createSilentPool();
    let now = 0;
    const statements = createStatements(pool, () => now);
    /** A load and a swap of callers whose deadline passes. Returns how many of them were sent. */
    async function attempt(): Promise<number> {
      const before = sent.length;
      const { signal, pass } = deadline();
      const calls = [statements.runShared('load', [], signal), statements.run('swap', [], signal)];
      await settled();
      pass();
      for (const call of calls) await expect(call).rejects.toThrow('the deadline');
      return sent.length - before;
    }
    for (const blockedSeconds of [30, 120, 300, 300]) {
      expect(await attempt()).toBe(2);
      now += blockedSeconds * 1_000 - 1;
      expect(await attempt()).toBe(0);
      now += 1;
    }

    const [swap, load] = [statements.run('later swap', [], undefined), statements.runShared('load', [], undefined)];
    await settled();
    expect(sent.slice(8).map(({ text }) => text)).toEqual(expect.arrayContaining(['later swap', 'load']));
    for (const { answer } of sent) answer();
    expect(await Promise.all([swap, load])).toEqual([{ text: 'later swap' }, { text: 'load' }]);
    // All have ended: the next one that breaks is the first again.
    expect(await attempt()).toBe(2);
    now += 30_000;
    expect(await attempt()).toBe(2);
  });

  test('is no reason to wait once its statement has ended', async () => {
    const { sent, pool } = createSilentPool();
    const statements = createStatements(pool);
    const { signal, pass } = deadline();
    const given = statements.run('swap', [], signal);
    await settled();
    pass();
    await expect(given).rejects.toThrow('the deadline');
    const next = statements.run('next', [], undefined);
    await settled();
    expect(sent).toHaveLength(1);
    sent[0]?.answer();
    await settled();
    sent[1]?.answer();
    expect(await next).toEqual({ text: 'next' });
  });
});

test('who asks while a load runs gets what was read after that', async () => {
  const answers: ((version: string) => void)[] = [];
  const query = () =>
    new Promise<{ rows: Record<string, unknown>[] }>((resolve) => {
      answers.push((version) => resolve({ rows: [{ version }] }));
    });
  const statements = createStatements({ query });
  const load = () => statements.runShared('load', ['key'], undefined);
  const first = load();
  await Promise.resolve();
  const others = [load(), load(), load()];
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toHaveLength(1);
  answers[0]?.('1');
  expect(await first).toEqual({ version: '1' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toHaveLength(2);
  answers[1]?.('2');
  expect(await Promise.all(others)).toEqual([{ version: '2' }, { version: '2' }, { version: '2' }]);
});
