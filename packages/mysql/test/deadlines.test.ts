import { createServiceAuth, type StoreSwapResult } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { createTestClock, startTestService } from '@service-auth/testing';
import mysql2, { type Connection, type Pool } from 'mysql2/promise';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTable, mysqlStore } from '../src/index.ts';

const given = process.env['MYSQL_URL'];
const server = given ? undefined : await orSkip(() => startMariadb());
afterAll(() => server?.stop());
const url = given ?? server?.url ?? '';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function connect(connectionLimit = 10): Pool {
  const pool = mysql2.createPool({ uri: url, connectionLimit });
  endings.push(() => pool.end());
  return pool;
}

/** A session of somebody else, which ends before the pools do. */
async function session(): Promise<Connection> {
  const connection = await mysql2.createConnection(url);
  endings.push(() => connection.destroy());
  return connection;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

/** Asks until the server runs this many statements of the store: how fast it notices is up to the server. */
async function untilRunning(watcher: Connection, expected: number): Promise<void> {
  for (;;) {
    const [rows] = await watcher.query(
      "select count(*) as running from information_schema.processlist where command <> 'Sleep' and info like '%service_auth%' and id <> connection_id()",
    );
    if ((rows as { running: number }[])[0]?.running === expected) return;
    await watcher.query('do sleep(0.01)');
  }
}

describe.runIf(url)('a table that somebody else has locked', () => {
  let other: Connection;
  let watcher: Connection;
  beforeEach(async () => {
    await createTable(connect());
    [other, watcher] = [await session(), await session()];
    await other.query('truncate service_auth');
  });
  const locked = {
    name: 'LockedTable',
    code: 'ER_LOCK_WAIT_TIMEOUT',
    message: expect.stringContaining('SHOW FULL PROCESSLIST'),
  };

  test('ends the wait of a load and of a swap on the server, and says so', async () => {
    const store = mysqlStore(connect());
    await store.swap('key', change('1'));
    await other.query('lock tables service_auth write');
    await expect(store.load('key')).rejects.toMatchObject(locked);
    await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject(locked);
    await expect(store.swap('other', change('1'))).rejects.toMatchObject(locked);
    await untilRunning(watcher, 0);
    await other.query('unlock tables');
    expect(await store.load('key')).toMatchObject({ version: '1' });
  });

  test('ends the wait of a swap for its row, while loads go on', async () => {
    const store = mysqlStore(connect());
    await store.swap('key', change('1'));
    await other.beginTransaction();
    await other.query("select version from service_auth where `key` = 'key' for update");
    await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject(locked);
    expect(await store.load('key')).toMatchObject({ version: '1' });
    await untilRunning(watcher, 0);
  });

  test('ends the wait of a swap for a row that somebody is about to insert', async () => {
    const store = mysqlStore(connect());
    await other.beginTransaction();
    await other.query("insert into service_auth values ('key', '0', 'record')");
    await expect(store.swap('key', change('1'))).rejects.toMatchObject(locked);
    await other.rollback();
    expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  });

  test('is waited for by one load at a time, however many ask, and the others of the pool go on', async () => {
    const pool = connect();
    const stores = Array.from({ length: 10 }, () => mysqlStore(pool));
    await other.query('lock tables service_auth write');
    const loads = stores.flatMap((store) => [1, 2, 3, 4, 5].map(() => store.load('key').catch(({ code }) => code)));
    await untilRunning(watcher, 1);
    expect((await pool.query('select 42 as answer'))[0]).toEqual([{ answer: 42 }]);
    // The first one, and the next one for all others.
    expect(await Promise.all(loads)).toEqual(Array.from({ length: 50 }, () => 'ER_LOCK_WAIT_TIMEOUT'));
    await untilRunning(watcher, 0);
  });

  test('leaves the settings of sessions as they were, whether a call succeeds or fails', async () => {
    const pool = connect(1);
    const store = mysqlStore(pool);
    await pool.query("set session lock_wait_timeout = 77, innodb_lock_wait_timeout = 66, time_zone = '+05:45'");
    await pool.query('set session transaction isolation level read committed');
    await pool.query('set autocommit = 0');
    const settings = async () => {
      // It fails within a transaction.
      await pool.query('set transaction read write');
      const names = [
        'lock_wait_timeout',
        'innodb_lock_wait_timeout',
        'time_zone',
        'tx_isolation',
        'transaction_isolation',
      ];
      const [rows] = await pool.query('show session variables where variable_name in (?)', [names]);
      return (rows as { Value: string }[]).map(({ Value }) => Value);
    };
    const before = await settings();
    expect(before.sort()).toEqual(expect.arrayContaining(['+05:45', '66', '77', 'READ-COMMITTED']));
    await store.swap('key', change('1'));
    await store.load('key');
    expect((await settings()).sort()).toEqual(before);
    await other.query('lock tables service_auth write');
    await expect(store.load('key')).rejects.toMatchObject(locked);
    await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject(locked);
    expect((await settings()).sort()).toEqual(before);
    await other.query('unlock tables');
  });

  test('does not fail a caller who has a token', async () => {
    // The server's second is real, and the deadline of core is not.
    const clock = createTestClock();
    await using service = await startTestService({ clock });
    await using auth = createServiceAuth({ ...service.options, store: mysqlStore(connect()) });
    const token = await auth.getToken();
    await other.query('lock tables service_auth write');
    expect(await auth.getToken()).toBe(token);
    await using late = createServiceAuth({ ...service.options, store: mysqlStore(connect()) });
    await expect(late.getToken()).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringMatching(/LockedTable ER_LOCK_WAIT_TIMEOUT.*PROCESSLIST/),
    });
    expect(service.counts.tokenRequests).toBe(1);
  });
});

/** The deadlocks that the server has found since it started. */
async function deadlocks(watcher: Connection): Promise<number> {
  const [rows] = await watcher.query(
    "select count as found from information_schema.innodb_metrics where name = 'lock_deadlocks'",
  );
  return Number((rows as { found: number }[])[0]?.found);
}

test.runIf(url)('two swaps that deadlock are run again, and one wins', async () => {
  // All insert a row that another one gives back, so each waits for the lock of the others.
  const pools = Array.from({ length: 6 }, () => connect(1));
  await createTable(connect());
  const [other, watcher] = [await session(), await session()];
  const before = await deadlocks(watcher);
  for (let round = 0; round < 20; round += 1) {
    const key = `deadlock ${round}`;
    await other.beginTransaction();
    await other.query('insert into service_auth values (?, ?, ?)', [key, '0', 'record']);
    // The wait for a lock ends after a second, and the others may not wait yet.
    const swap = (pool: Pool, version: string): Promise<StoreSwapResult> =>
      mysqlStore(pool)
        .swap(key, change(version))
        .catch((error) => {
          if (error.name !== 'LockedTable') throw error;
          return swap(pool, version);
        });
    const swaps = Promise.all(pools.map((pool, index) => swap(pool, `${index + 1}`)));
    await Promise.race([untilRunning(watcher, pools.length), swaps]);
    await other.rollback();
    expect((await swaps).filter(({ swapped }) => swapped)).toHaveLength(1);
  }
  expect(await deadlocks(watcher)).toBeGreaterThan(before);
});
