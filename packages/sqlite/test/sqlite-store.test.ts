import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expectMissingTable, expectOneToken } from '@service-auth/test-support/store-checks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTable, createTableSql, type SqliteDatabase, sqliteStore } from '../src/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
});
const opened: DatabaseSync[] = [];
afterEach(() => {
  for (const database of opened.splice(0)) database.close();
  rmSync(folder, { recursive: true });
});

function open(options: { readOnly?: boolean; timeout?: number } = {}): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'database'), options);
  opened.push(database);
  return database;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

test('the same database and table give the same store, so that clients share its reads', () => {
  const database = open();
  expect(sqliteStore(database)).toBe(sqliteStore(database, { table: 'service_auth' }));
  expect(sqliteStore(database)).not.toBe(sqliteStore(database, { table: 'tokens' }));
  expect(sqliteStore(database)).not.toBe(sqliteStore(open()));
});

test('messages name the table', () => {
  expect(sqliteStore(open()).name).toBe('table "main"."service_auth"');
  expect(sqliteStore(open(), { table: 'main.tokens' }).name).toBe('table "main"."tokens"');
});

test.each<[string, unknown]>([
  ['no database', undefined],
  ['a path', '/tmp/database'],
  ['a class', DatabaseSync],
  ['a database of sqlite3, which has only callbacks', { prepare() {}, exec() {}, run() {}, each() {} }],
  ['a transaction of @libsql/client', { execute() {}, batch() {}, commit() {}, rollback() {} }],
])('%s is refused with the databases that it knows', async (_, database) => {
  const known = /node:sqlite, better-sqlite3 or bun:sqlite, a client of @libsql\/client, or a binding of Cloudflare D1/;
  expect(() => sqliteStore(database as SqliteDatabase)).toThrow(known);
  await expect(createTable(database as SqliteDatabase)).rejects.toThrow(TypeError);
});

test('the table may be created by hand, and in another schema', async () => {
  const database = open();
  const store = sqliteStore(database, { table: 'other.tokens' });
  await expect(store.load('key')).rejects.toMatchObject({ name: 'MissingSchema' });
  database.exec(`attach '${join(folder, 'other')}' as other`);
  database.exec(createTableSql({ table: 'other.tokens' }));
  await store.swap('key', change('1'));
  expect({ ...database.prepare('select * from other.tokens').get() }).toEqual({
    key: 'key',
    version: '1',
    record: 'record of 1',
  });
});

test.each([
  ['a temporary table', 'create temp table service_auth (key text primary key, version text, record text)'],
  [
    'a table of an attached database',
    "attach ':memory:' as other; create table other.service_auth (key text, version text, record text)",
  ],
  [
    'both',
    "attach ':memory:' as other; create table other.service_auth (key text); create temp table service_auth (key text)",
  ],
])('a name without a schema is a table of the main database, beside %s', async (_, sql) => {
  const database = open();
  database.exec(sql);
  await expect(sqliteStore(database).load('key')).rejects.toMatchObject({ name: 'MissingTable' });
  await createTable(database);
  expect(await sqliteStore(database).swap('key', change('1'))).toMatchObject({ swapped: true });
  expect(await sqliteStore(open()).load('key')).toMatchObject({ version: '1' });
});

test.each(['temp', 'TEMP'])('a table in %s is refused, because other processes do not see it', async (schema) => {
  const options = { table: `${schema}.tokens` };
  expect(() => sqliteStore(open(), options)).toThrow(/^\[service-auth\/sqlite\] table must not be in temp/);
  await expect(createTable(open(), options)).rejects.toThrow(TypeError);
});

test('the name of the table is a name', () => {
  for (const table of ['', 'a"b', 'a'.repeat(59), null as never]) {
    expect(() => sqliteStore(open(), { table }), table).toThrow(TypeError);
    expect(() => createTableSql({ table }), table).toThrow(
      '[service-auth/sqlite] table must be a name of letters, digits and underscores, 58 at most, with or without a schema',
    );
  }
  expect(sqliteStore(open(), { table: 'a'.repeat(58) }).name).toBe(`table "main"."${'a'.repeat(58)}"`);
});

test('a table of another program is reported as what it is', async () => {
  const database = open();
  database.exec('create table service_auth (id integer primary key, version text, record text)');
  const other = { name: 'OtherTable', advice: expect.stringContaining('name another table') };
  await expect(sqliteStore(database).load('key')).rejects.toMatchObject(other);
  await expect(sqliteStore(database).swap('key', change('1'))).rejects.toMatchObject(other);
});

test('a table that is missing is reported as what it is, and core says so', async () => {
  const store = sqliteStore(open());
  const missing = { name: 'MissingTable', advice: expect.stringContaining('run createTable()') };
  await expectMissingTable(store, missing, /\(MissingTable SQLITE_ERROR\).*run createTable\(\)/);
});

test('a database that is open for reading only can be read, and says so when it is written', async () => {
  const database = open();
  await createTable(database);
  await sqliteStore(database).swap('key', change('1'));
  const store = sqliteStore(open({ readOnly: true }));
  expect(await store.load('key')).toMatchObject({ version: '1' });
  await expect(store.swap('key', change('2', '1'))).rejects.toMatchObject({
    name: 'ReadOnlyDatabase',
    code: 'SQLITE_READONLY',
  });
});

test('a transaction of the application makes both methods reject, and goes on', async () => {
  const database = open();
  await createTable(database);
  const store = sqliteStore(database);
  database.exec('create table orders (id integer); begin; insert into orders values (1)');
  const refusal = { name: 'OpenTransaction', advice: expect.stringContaining('a connection of its own') };
  await expect(store.load('key')).rejects.toMatchObject(refusal);
  await expect(store.swap('key', change('1'))).rejects.toMatchObject(refusal);
  database.exec('insert into orders values (2); rollback');
  expect(database.prepare('select count(*) as count from orders').get()?.['count']).toBe(0);
  expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
});

test('a lock of another connection that ends is waited for', async () => {
  const holder = open();
  await createTable(holder);
  holder.exec('begin immediate');
  const swap = sqliteStore(open()).swap('key', change('1'));
  setImmediate(() => holder.exec('commit'));
  expect(await swap).toMatchObject({ swapped: true });
});

test('a caller whose signal aborts while another connection locks the database gets its reason', async () => {
  const holder = open();
  await createTable(holder);
  holder.exec('begin immediate');
  const controller = new AbortController();
  const swap = sqliteStore(open()).swap('key', change('1'), controller);
  const reason = new Error('enough');
  setImmediate(() => controller.abort(reason));
  await expect(swap).rejects.toBe(reason);
});

test('the settings of the connection are as before, whether a call succeeds or fails', async () => {
  const database = open({ timeout: 77 });
  database.exec('pragma synchronous = off');
  const settings = () => [
    Object.values(database.prepare('pragma busy_timeout').get() ?? {}),
    Object.values(database.prepare('pragma synchronous').get() ?? {}),
  ];
  const before = settings();
  expect(before).toEqual([[77], [0]]);
  const store = sqliteStore(database);
  await expect(store.load('key')).rejects.toMatchObject({ name: 'MissingTable' });
  expect(settings()).toEqual(before);
  await createTable(database);
  await store.swap('key', change('1'));
  await store.load('key');
  expect(settings()).toEqual(before);
});

test.each([
  ['main', 'service_auth'],
  ['other', 'other.tokens'],
])(
  'a commit to the schema %s waits for the disk in each journal mode, whatever the connection says',
  async (schema, table) => {
    const database = open();
    database.exec(`attach '${join(folder, 'other')}' as other`);
    database.exec('pragma main.synchronous = off; pragma other.synchronous = off');
    await createTable(database, { table });
    const synchronous = () => database.prepare(`pragma ${schema}.synchronous`).get()?.['synchronous'];
    const seen: unknown[] = [];
    const watched = {
      exec(sql: string) {
        database.exec(sql);
        if (sql.startsWith('begin')) seen.push([sql, synchronous()]);
      },
      prepare: (sql: string) => database.prepare(sql),
      pragma() {},
    };
    const store = sqliteStore(watched, { table });
    await store.swap('key', change('1'));
    database.exec(`pragma ${schema}.journal_mode = wal`);
    await store.swap('key', change('2', '1'));
    expect(seen).toEqual([
      ['begin immediate', 3],
      ['begin immediate', 3],
    ]);
    expect(synchronous()).toBe(0);
  },
);

test('clients over one file share one token and one count', async () => {
  await createTable(open());
  await expectOneToken(() => sqliteStore(open({ timeout: 10 })), 10);
});
