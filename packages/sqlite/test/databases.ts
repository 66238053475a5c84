import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@libsql/client';
import BetterSqlite3 from 'better-sqlite3';
import Libsql from 'libsql';
import type { SqliteDatabase } from '../src/index.ts';

export interface Connection {
  readonly database: SqliteDatabase;
  close(): unknown;
}

/** A connection to a file by each driver that opens one here. */
export const openers: Record<
  'node:sqlite' | 'node:sqlite, unusual' | 'better-sqlite3' | 'libsql' | '@libsql/client',
  (file: string) => Connection
> = {
  'node:sqlite'(file) {
    const database = new DatabaseSync(file);
    return { database, close: () => database.close() };
  },
  // Its rows are arrays of big integers, and its other users want no write to wait for the disk.
  'node:sqlite, unusual'(file) {
    const database = new DatabaseSync(file, { returnArrays: true, readBigInts: true, timeout: 5_000 });
    database.exec('pragma journal_mode = wal; pragma synchronous = off');
    return { database, close: () => database.close() };
  },
  'better-sqlite3'(file) {
    const database = new BetterSqlite3(file);
    return { database, close: () => database.close() };
  },
  // It has the interface of better-sqlite3.
  libsql(file) {
    const database = new Libsql(file);
    database.pragma('journal_mode = wal');
    return { database, close: () => database.close() };
  },
  '@libsql/client'(file) {
    const database = createClient({ url: `file:${file}` });
    return { database, close: () => database.close() };
  },
};
