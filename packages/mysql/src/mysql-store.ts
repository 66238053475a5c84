import type { Store } from '@service-auth/core';
import { explain, onePerConnection, type Reason } from '@service-auth/core/store';
import { type MysqlPool, numberOf, run, statementsOf, textOf } from './pool.ts';
import { defaultTable, namesOf, statementsToCreate } from './procedures.ts';

/** Options of {@link mysqlStore} and {@link createTable}. */
export interface MysqlStoreOptions {
  /**
   * The name of the table, with or without a database: letters, digits and underscores, 59 at most.
   * The procedures are `<table>_load` and `<table>_swap`. Default `service_auth`.
   */
  table?: string | undefined;
}

/** The procedure exists already: ER_SP_ALREADY_EXISTS. */
const createdMeanwhile = 1304;

/** A record of a million bytes, in hexadecimal digits, and the rest of the statement. */
const enoughForRecords = 2_100_000;

/** ER_NO_DB_ERROR and ER_NET_PACKET_TOO_LARGE, which no other database has. */
const reasons: readonly Reason[] = [
  ['MissingDatabase', 'name a database in the pool, or as table: "database.table".', '1046'],
  ['LargeRecord', 'set max_allowed_packet of the server to 4194304 or more.', '1153'],
];

const storeOf = onePerConnection(createStore);

/**
 * Keeps records in MySQL (5.7 and newer) or MariaDB (10.3 and newer), one row for each client of
 * the service. Every operation is one call of a procedure, in its own transaction. Both methods
 * reject if the database does not answer, if another session locks the table or the row for more
 * than a second, if the server is read-only, if the connection is in a transaction, or if the table
 * or its procedures are missing. The same `pool` and `table` give the same store.
 * @throws TypeError if `pool` is no pool of mysql2 or mariadb, or if `table` is no valid name
 */
export function mysqlStore(pool: MysqlPool, { table = defaultTable }: MysqlStoreOptions = {}): Store {
  checkPool(pool);
  return storeOf(pool, table);
}

function createStore(pool: MysqlPool, table: string): Store {
  const names = namesOf(table);
  const load = `call ${names.loadProcedure}(?)`;
  const replace = `call ${names.swapProcedure}(?, ?, ?, ?)`;
  const insert = `call ${names.swapProcedure}(?, null, ?, ?)`;
  const statements = statementsOf(pool);

  return {
    durability: 'durable',
    name: `table ${names.table}`,
    async load(key, { signal } = {}) {
      const row = await statements.runShared(load, [key], signal).catch((error) => explain(error, signal, reasons));
      const [keptVersion, keptRecord, now, ...settings] = Object.values(row ?? {});
      const version = textOf(keptVersion);
      const found = version === undefined ? {} : { version, record: textOf(keptRecord) };
      return { ...found, now: Number(now), warnings: warningsOf(settings.map(Number)) };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const [statement, values] =
        expected === undefined ? [insert, [key, version, record]] : [replace, [key, expected, version, record]];
      const row = await statements.run(statement, values, signal).catch((error) => explain(error, signal, reasons));
      const [swapped, now] = Object.values(row ?? {});
      return { swapped: Number(swapped) === 1, now: Number(now) };
    },
  };
}

/**
 * The SQL that creates the table and its two procedures, for migrations by hand: three statements,
 * without a delimiter at their ends. The procedures contain semicolons, so the program `mysql`
 * needs another delimiter for them. They run with the rights of their caller.
 */
export function createTableSql({ table }: MysqlStoreOptions = {}): string[] {
  return statementsToCreate(namesOf(table));
}

/**
 * Creates the table and its procedures if they are missing. Several processes may call it at once.
 */
export async function createTable(pool: MysqlPool, options: MysqlStoreOptions = {}): Promise<void> {
  checkPool(pool);
  for (const sql of createTableSql(options)) {
    await run(pool, sql).catch((error: unknown) => {
      if (numberOf(error) !== createdMeanwhile) explain(error, undefined, reasons);
    });
  }
}

function checkPool(pool: MysqlPool): void {
  const { query, acquireConnection, promise } = (pool ?? {}) as MysqlPool & Record<string, unknown>;
  // The package mysql has only callbacks, and its pool has this method.
  if (typeof query === 'function' && (!acquireConnection || promise)) return;
  throw new TypeError('[service-auth/mysql] mysqlStore(pool) takes a pool of mysql2 or mariadb, not its URL.');
}

function warningsOf([flush, binaryLog, sync, packet]: number[]): string[] {
  const forgets = `innodb_flush_log_at_trx_commit is ${flush}: a crash may lose the newest tokens. Set it to 1.`;
  const unsynced = `sync_binlog is ${sync}: with the binary log, a crash of the machine may lose the newest tokens. Set it to 1.`;
  const small = `max_allowed_packet is ${packet}: large records cannot be written. Set it to 4194304 or more.`;
  return [
    ...(flush === 1 ? [] : [forgets]),
    ...(binaryLog === 0 || sync === 1 ? [] : [unsynced]),
    ...(Number(packet) >= enoughForRecords ? [] : [small]),
  ];
}
