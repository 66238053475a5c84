import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@libsql/client';
import BetterSqlite3 from 'better-sqlite3';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import type { SyncDatabase } from '../src/database.ts';
import { createTable, sqliteStore } from '../src/index.ts';

const change = { version: '1', record: 'record' };
const locked = { name: 'LockedDatabase', code: 'SQLITE_BUSY' };

/** The connection that holds the lock is one of the same library: the locks of two SQLite libraries in one process do not exclude each other. */
const pairs: Record<
  string,
  (file: string) => [holder: SyncDatabase, waiting: SyncDatabase | ReturnType<typeof createClient>]
> = {
  'node:sqlite': (file) => [new DatabaseSync(file), new DatabaseSync(file, { timeout: 60_000 })],
  'better-sqlite3': (file) => [new BetterSqlite3(file), new BetterSqlite3(file, { timeout: 60_000 })],
  '@libsql/client': (file) => [new Libsql(file), createClient({ url: `file:${file}` })],
};

// While a lock is exclusive, nobody can read either. The connection that waits has read nothing yet.
const locks = Object.entries(pairs).flatMap(([driver, open]) =>
  ['begin immediate', 'begin exclusive'].map((begin) => [driver, begin, open] as const),
);

test.each(locks)(
  'with %s a lock of another connection (%s) does not block the process, whatever its busy timeout is, and ends in an error',
  async (_, begin, open) => {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
    const [holder, waiting] = open(join(folder, 'database'));
    await createTable(holder);
    holder.exec(begin);
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    const store = sqliteStore(waiting);
    await expect(store.swap('key', change)).rejects.toMatchObject(locked);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(2);
    holder.exec('rollback');
    expect(await store.swap('key', change)).toMatchObject({ swapped: true });
    rmSync(folder, { recursive: true });
  },
);
