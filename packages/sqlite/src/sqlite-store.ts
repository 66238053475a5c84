import type { Store } from '@service-auth/core';
import { quotedName } from '@service-auth/core/sql';
import { abortable, onePerConnection } from '@service-auth/core/store';
import type { Row, SqliteDatabase } from './database.ts';
import { explainSqlite, isBusy } from './errors.ts';
import { transactionsOf } from './transactions.ts';

/** Options of {@link sqliteStore} and {@link createTable}. */
export interface SqliteStoreOptions {
  /**
   * The name of the table, with or without the name of an attached database: letters, digits and
   * underscores, 58 at most. `temp` is refused, because only its own connection sees it. Default
   * `service_auth`.
   */
  table?: string | undefined;
}

/** The deadline of core is at least 2 seconds. */
const waitForLockMs = 1_500;
/** The longest pause between two tries. Others write for some milliseconds. */
const maxPauseMs = 20;

/**
 * The clock of the machine with the database, in milliseconds. `unixepoch('subsec')` needs a newer
 * SQLite.
 */
const clock = "cast(round((julianday('now') - 2440587.5) * 86400000) as integer) as now";

const defaultTable = 'service_auth';

const storeOf = onePerConnection(createStore);

/**
 * Keeps records in SQLite, one row for each client of the service. `database` is an open database
 * of node:sqlite, better-sqlite3 or `bun:sqlite`, a client of `@libsql/client`, or a binding of
 * Cloudflare D1. Several processes may use one file. Each operation is one transaction. Both
 * methods reject if another connection locks the database for more than 1.5 seconds, if the disk is
 * full or read-only, if the connection is in a transaction, or if the table is missing. The same
 * `database` and `table` give the same store.
 * @throws TypeError if `database` is none of these, or if `table` is no valid name
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): Store {
  const { table = defaultTable } = options;
  // Nothing else than a database can be a key of the stores.
  transactionsOf(database, namesOf(options).schema);
  return storeOf(database, table);
}

function createStore(database: SqliteDatabase, name: string): Store {
  const { table, schema } = namesOf({ table: name });
  const transactions = transactionsOf(database, schema);
  const load = `select version, record, ${clock} from (select 1) left join ${table} on "key" = ?`;
  const insert = `insert into ${table} ("key", version, record) values (?, ?, ?) on conflict ("key") do nothing`;
  const replace = `update ${table} set version = ?, record = ? where "key" = ? and version = ?`;
  // A change that is executed again finds its own version, and so reports success again.
  const outcome = `select exists (select 1 from ${table} where "key" = ? and version = ?) as swapped, ${clock}`;

  return {
    durability: 'durable',
    name: `table ${table}`,
    async load(key, { signal } = {}) {
      const query = { text: load, values: [key] };
      const row = await untilUnlocked(() => transactions.run(undefined, query), signal);
      const [version, record, now] = columnsOf(row, ['version', 'record', 'now']);
      return version == null
        ? { now: Number(now) }
        : { version: String(version), record: String(record), now: Number(now) };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const change =
        expected === undefined
          ? { text: insert, values: [key, version, record] }
          : { text: replace, values: [version, record, key, expected] };
      const query = { text: outcome, values: [key, version] };
      const row = await untilUnlocked(() => transactions.run(change, query), signal);
      const [swapped, now] = columnsOf(row, ['swapped', 'now']);
      return { swapped: Number(swapped) === 1, now: Number(now) };
    },
  };
}

/** The SQL that creates the table, for migrations by hand. */
export function createTableSql(options: SqliteStoreOptions = {}): string {
  return `create table if not exists ${namesOf(options).table} ("key" text not null primary key, version text not null, record text not null);\n`;
}

/** Creates the table if it is missing. Several processes may call it at once. */
export async function createTable(database: SqliteDatabase, options: SqliteStoreOptions = {}): Promise<void> {
  const transactions = transactionsOf(database, namesOf(options).schema);
  const sql = createTableSql(options);
  await untilUnlocked(() => transactions.create(sql), undefined);
}

/**
 * Tries until no other connection locks the database. Between two tries the process does other
 * work.
 */
async function untilUnlocked<Result>(
  attempt: () => Result | Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (const giveUpAt = performance.now() + waitForLockMs; ; ) {
    signal?.throwIfAborted();
    try {
      const running = attempt();
      return running instanceof Promise ? await abortable(running, signal) : running;
    } catch (error) {
      if (signal?.aborted || !isBusy(error) || performance.now() > giveUpAt) explainSqlite(error, signal);
    }
    const pause = new Promise((resolve) => setTimeout(resolve, Math.random() * maxPauseMs));
    await abortable(pause, signal);
  }
}

function columnsOf(row: Row | undefined, names: readonly string[]): unknown[] {
  return names.map((name, index) =>
    Array.isArray(row) ? row[index] : (row as Record<string, unknown> | undefined)?.[name],
  );
}

/**
 * Without a schema the name would be that of a temporary table, if there is one, or of an attached
 * database, if the main one has no such table.
 */
function namesOf({ table: name = defaultTable }: SqliteStoreOptions): { table: string; schema: string } {
  const quoted = quotedName(name, '"', 58, 'sqlite');
  const table = quoted.includes('.') ? quoted : `"main".${quoted}`;
  const schema = table.replace(/\..*/, '');
  if (schema.toLowerCase() !== '"temp"') return { table, schema };
  throw new TypeError(
    '[service-auth/sqlite] table must not be in temp, which only its own connection sees: other processes would not share it.',
  );
}
