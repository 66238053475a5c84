/// <reference path="../node_modules/bun-types/sqlite.d.ts" />

import type { Database } from 'bun:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import type { D1Database, D1DatabaseSession } from '@cloudflare/workers-types';
import type { Client } from '@libsql/client';
import type BetterSqlite3 from 'better-sqlite3';
import type Libsql from 'libsql';
import { expectTypeOf, test } from 'vitest';
import type { SqliteDatabase } from '../src/index.ts';

test('the types of all supported drivers are accepted', () => {
  expectTypeOf<DatabaseSync>().toExtend<SqliteDatabase>();
  expectTypeOf<BetterSqlite3.Database>().toExtend<SqliteDatabase>();
  expectTypeOf<Libsql.Database>().toExtend<SqliteDatabase>();
  expectTypeOf<Database>().toExtend<SqliteDatabase>();
  expectTypeOf<Client>().toExtend<SqliteDatabase>();
  expectTypeOf<D1Database>().toExtend<SqliteDatabase>();
});

test('the types refuse what is no database', () => {
  expectTypeOf<D1DatabaseSession>().not.toExtend<SqliteDatabase>();
  expectTypeOf<string>().not.toExtend<SqliteDatabase>();
  expectTypeOf<Promise<DatabaseSync>>().not.toExtend<SqliteDatabase>();
  expectTypeOf<{ exec(sql: string): void; run(sql: string): void }>().not.toExtend<SqliteDatabase>();
});
