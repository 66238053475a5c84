import type { Store } from '@service-auth/core';
import { quotedName, storeError } from '@service-auth/core/sql';
import { onePerConnection } from '@service-auth/core/store';
import { type Queryable, statementsOf } from './statements.ts';

/** Options of {@link postgresStore} and {@link createTable}. */
export interface PostgresStoreOptions {
  /** The name of the table, with or without a schema: letters, digits and underscores, 58 at most. The functions are `<table>_load` and `<table>_swap`. Default `service_auth`. */
  table?: string | undefined;
}

/** SQLSTATE codes without `createTable()`: undefined_table, undefined_function, invalid_schema_name. */
const missing = ['42P01', '42883', '3F000'];
/** SQLSTATE codes if another process creates the same object: unique_violation, duplicate_table, duplicate_object (its type), duplicate_function. */
const createdMeanwhile = ['23505', '42P07', '42710', '42723'];
/** PostgreSQL cuts names after 63 characters, and the functions have five more than the table. */
const maxTableLength = 58;
const lockNotAvailable = '55P03';

/** A swap waits for at most three locks in turn: the table's, that of the queue for the row, and the row's. Core's deadline is at least 2 seconds. */
const lockTimeout = '600ms';

const defaultTable = 'service_auth';

const storeOf = onePerConnection(createStore);

/**
 * Keeps records in PostgreSQL (12 and newer), one row for each client of the service. Every operation is one statement in its own transaction, so
 * every pool mode of PgBouncer works. Both methods reject if the database does not answer, if another session locks the table or the row for more
 * than 600 ms, or if the table or its functions are missing. The same `pool` and `table` give the same store.
 * @throws TypeError if `pool` has no `query()` or `table` is no valid name
 */
export function postgresStore(pool: Queryable, options: PostgresStoreOptions = {}): Store {
  if (typeof pool?.query !== 'function') {
    throw new TypeError(
      '[service-auth/postgres] postgresStore(pool) takes what has query(), such as a Pool, not its URL.',
    );
  }
  const { table = defaultTable } = options;
  return storeOf(pool, table);
}

function createStore(pool: Queryable, name: string): Store {
  const { table, loadFunction, swapFunction } = namesOf({ table: name });
  const load = `select version, record, now from ${loadFunction}($1)`;
  const replace = `select swapped, now from ${swapFunction}($1, $2, $3, $4)`;
  const insert = `select swapped, now from ${swapFunction}($1, null, $2, $3)`;
  const statements = statementsOf(pool);

  return {
    durability: 'durable',
    name: `table ${table}`,
    async load(key, { signal } = {}) {
      const row = await statements.runShared(load, [key], signal).catch(explain);
      const { version, record, now } = row ?? {};
      const found = typeof version === 'string' && typeof record === 'string' ? { version, record } : {};
      return { ...found, now: Number(now) };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const [statement, values] =
        expected === undefined ? [insert, [key, version, record]] : [replace, [key, expected, version, record]];
      const row = await statements.run(statement, values, signal).catch(explain);
      return { swapped: row?.['swapped'] === 'true', now: Number(row?.['now']) };
    },
  };
}

/**
 * The SQL that creates the table and its two functions, for migrations by hand. A semicolon ends each statement. The functions run with the rights of
 * their caller. They end every wait for a lock after 600 ms and do not change the settings of the session.
 */
export function createTableSql(options: PostgresStoreOptions = {}): string {
  return `${statementsToCreate(options).join(';\n')};\n`;
}

/** Creates the table and its functions if they are missing. Several processes may call it at once. */
export async function createTable(pool: Queryable, options: PostgresStoreOptions = {}): Promise<void> {
  for (const sql of statementsToCreate(options)) {
    try {
      await pool.query(sql, []);
    } catch (error) {
      // "if not exists" checks before it creates. At the second run the object exists; otherwise another object has its name, and this rejects.
      if (!createdMeanwhile.includes(String((error as { code?: unknown }).code))) throw error;
      await pool.query(sql, []);
    }
  }
}

function statementsToCreate(options: PostgresStoreOptions): string[] {
  const { table, loadFunction, swapFunction } = namesOf(options);
  const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::text';
  const load = `
create function ${loadFunction}(in at_key text, out version text, out record text, out now text)
language plpgsql set lock_timeout = '${lockTimeout}' as $body$
begin
  select kept.version, kept.record into version, record from ${table} as kept where kept.key = at_key;
  now := ${clock};
end $body$`;
  // `synchronous_commit` for this transaction alone: what is acknowledged survives, whatever the session says.
  // The condition also matches the new version, so a repeated change reports the same result as the first one.
  const swap = `
create function ${swapFunction}(in at_key text, in expected text, in next_version text, in next_record text, out swapped text, out now text)
language plpgsql set lock_timeout = '${lockTimeout}' as $body$
begin
  perform set_config('synchronous_commit', 'on', true);
  if expected is null then
    insert into ${table} as present (key, version, record) values (at_key, next_version, next_record)
      on conflict (key) do update set version = present.version where present.version = next_version;
  else
    update ${table} as present set version = next_version, record = next_record
      where present.key = at_key and present.version in (expected, next_version);
  end if;
  swapped := found::text;
  now := ${clock};
end $body$`;
  return [
    `create table if not exists ${table} (key text primary key, version text not null, record text not null)`,
    unlessThere(`${loadFunction}(text)`, load),
    unlessThere(`${swapFunction}(text, text, text, text)`, swap),
  ];
}

/** Creates a function if it is missing. `create or replace` would fail for users who do not own the function. */
function unlessThere(signature: string, create: string): string {
  return `do $do$ begin if to_regprocedure('${signature}') is null then${create};\nend if; end $do$`;
}

function explain(error: unknown): never {
  const { code } = (error ?? {}) as { code?: unknown };
  if (missing.includes(String(code))) {
    throw storeError(
      'MissingTable',
      code,
      'The table or its functions are missing',
      'run createTable(pool), or the SQL of createTableSql().',
    );
  }
  if (code === lockNotAvailable) {
    throw storeError(
      'LockedTable',
      code,
      'The table is locked',
      'see in pg_locks who holds a lock on the table or its row.',
    );
  }
  throw error;
}

function namesOf({ table = defaultTable }: PostgresStoreOptions): {
  table: string;
  loadFunction: string;
  swapFunction: string;
} {
  const quoted = (suffix: string) => quotedName(table, '"', maxTableLength, 'postgres', suffix);
  return { table: quoted(''), loadFunction: quoted('_load'), swapFunction: quoted('_swap') };
}
