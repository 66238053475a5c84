import type { Store } from '@service-auth/core';
import { quotedName } from '@service-auth/core/sql';
import { explain, onePerConnection } from '@service-auth/core/store';
import { isInTransaction, type Queryable, statementsOf } from './statements.ts';

/** Options of {@link postgresStore} and {@link createTable}. */
export interface PostgresStoreOptions {
  /**
   * The name of the table, with or without a schema: letters, digits and underscores, 58 at most.
   * The functions are `<table>_load` and `<table>_swap`. Default `service_auth`.
   */
  table?: string | undefined;
}

/**
 * SQLSTATE codes if another process creates the same object: unique_violation, duplicate_table,
 * duplicate_object (its type), duplicate_function.
 */
const createdMeanwhile = ['23505', '42P07', '42710', '42723'];
/** PostgreSQL cuts names after 63 characters, and the functions have five more than the table. */
const maxTableLength = 58;

/**
 * A swap waits for at most three locks in turn: the table's, that of the queue for the row, and the
 * row's. Core's deadline is at least 2 seconds.
 */
const lockTimeout = '600ms';

const defaultTable = 'service_auth';

const storeOf = onePerConnection(createStore);

/**
 * Keeps records in PostgreSQL (12 and newer), one row for each client of the service. Every
 * operation is one statement in its own transaction, so every pool mode of PgBouncer works. Both
 * methods reject if the database does not answer, if another session locks the table or the row for
 * more than 600 ms, or if the table or its functions are missing. The same `pool` and `table` give
 * the same store.
 * @throws TypeError if `pool` has no `query()`, if it is within a transaction, or if `table` is no
 * valid name
 */
export function postgresStore(pool: Queryable, options: PostgresStoreOptions = {}): Store {
  if (typeof pool?.query !== 'function') {
    throw new TypeError(
      '[service-auth/postgres] postgresStore(pool) takes what has query(), such as a Pool, not its URL.',
    );
  }
  if (isInTransaction(pool)) {
    throw new TypeError('[service-auth/postgres] postgresStore(pool) takes no connection within a transaction.');
  }
  const { table = defaultTable } = options;
  return storeOf(pool, table);
}

function createStore(pool: Queryable, name: string): Store {
  const { schema, table, loadFunction, swapFunction } = namesOf({ table: name });
  const load = `select version, record, now from ${loadFunction}($1)`;
  // A name with a schema is always the same place. Any other one may be in several, and the search
  // path says in which of them it is.
  const schemas = `select string_agg(regexp_replace(nspname, '[^a-zA-Z0-9_]', '?', 'g'), ', ' order by nspname)
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace where proname = '${name}_load'`;
  const firstLoad = `select version, record, now, (${schemas}) as schemas from ${loadFunction}($1)`;
  const replace = `select swapped, now from ${swapFunction}($1, $2, $3, $4)`;
  const insert = `select swapped, now from ${swapFunction}($1, null, $2, $3)`;
  const statements = statementsOf(pool);
  let warnings: string[] | undefined = schema === undefined ? undefined : [];

  return {
    durability: 'durable',
    name: `table ${table}`,
    async load(key, { signal } = {}) {
      const row = await statements
        .runShared(warnings ? load : firstLoad, [key], signal)
        .catch((error) => explain(error, signal));
      const { version, record, now, schemas } = row ?? {};
      warnings ??= warningsOf(name, schemas);
      const found = typeof version === 'string' && typeof record === 'string' ? { version, record } : {};
      return { ...found, now: Number(now), warnings };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const [statement, values] =
        expected === undefined ? [insert, [key, version, record]] : [replace, [key, expected, version, record]];
      const row = await statements.run(statement, values, signal).catch((error) => explain(error, signal));
      return { swapped: row?.['swapped'] === 'true', now: Number(row?.['now']) };
    },
  };
}

/**
 * The SQL that creates the table and its two functions, for migrations by hand: one statement,
 * which ends in a semicolon. Without a schema in its name, the table stands where the search path
 * finds it already, or else in the first schema of that path. The functions stand in the same
 * schema, name the table in full, and run with the rights of their caller. They end every wait for
 * a lock after 600 ms and do not change the settings of the session.
 */
export function createTableSql(options: PostgresStoreOptions = {}): string {
  const { schema, name, table } = namesOf(options);
  const found = `(select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('${table}'))`;
  return `do $do$
declare place text := ${schema === undefined ? `coalesce(${found}, current_schema())` : `'${schema}'`};
begin
${unless(`to_regclass(format('%I."${name}"', place))`, `create table %I."${name}" (key text primary key, version text not null, record text not null)`)}
${unless(`to_regprocedure(format('%I."${name}_load"(text)', place))`, loadFunction(name))}
${unless(`to_regprocedure(format('%I."${name}_swap"(text, text, text, text)', place))`, swapFunction(name))}
end $do$;
`;
}

/**
 * Creates the table and its functions if they are missing. Several processes may call it at once. A
 * table that the search path finds is not created again in another schema.
 */
export async function createTable(pool: Queryable, options: PostgresStoreOptions = {}): Promise<void> {
  const sql = createTableSql(options);
  try {
    await pool.query(sql, []);
  } catch (error) {
    // At the second run the object exists; otherwise another object has its name, and this rejects.
    if (!createdMeanwhile.includes(String((error as { code?: unknown }).code))) throw error;
    await pool.query(sql, []);
  }
}

/**
 * Creates what is missing in the schema `place`. `create or replace` would fail for users who do
 * not own the function.
 */
function unless(exists: string, create: string): string {
  return `  if ${exists} is null then execute format($create$${create}$create$, place); end if;`;
}

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::text';

function loadFunction(name: string): string {
  return `
create function %1$I."${name}_load"(in at_key text, out version text, out record text, out now text)
language plpgsql set lock_timeout = '${lockTimeout}' as $body$
begin
  select kept.version, kept.record into version, record from %1$I."${name}" as kept where kept.key = at_key;
  now := ${clock};
end $body$`;
}

/**
 * A transaction that has written already is one of the application, whose rollback would undo the
 * count. `synchronous_commit` is for this transaction alone: an acknowledged swap survives,
 * whatever the session has set. The condition also matches the new version, so a repeated change
 * reports the same result as the first one.
 */
function swapFunction(name: string): string {
  return `
create function %1$I."${name}_swap"(in at_key text, in expected text, in next_version text, in next_record text, out swapped text, out now text)
language plpgsql set lock_timeout = '${lockTimeout}' as $body$
begin
  if txid_current_if_assigned() is not null then
    raise exception 'within a transaction' using errcode = 'active_sql_transaction';
  end if;
  perform set_config('synchronous_commit', 'on', true);
  if expected is null then
    insert into %1$I."${name}" as present (key, version, record) values (at_key, next_version, next_record)
      on conflict (key) do update set version = present.version where present.version = next_version;
  else
    update %1$I."${name}" as present set version = next_version, record = next_record
      where present.key = at_key and present.version in (expected, next_version);
  end if;
  swapped := found::text;
  now := ${clock};
end $body$`;
}

function warningsOf(table: string, schemas: unknown): string[] {
  const [first = '', ...others] = String(schemas ?? '').split(', ');
  if (others.length === 0) return [];
  return [
    `The schemas ${schemas} have a table ${table} each: programs whose search_path differs have different counts, and each issues the whole limit. Keep one of them, and name it with its schema: table: "${first}.${table}".`,
  ];
}

interface Names {
  /** Undefined: the name has no schema. */
  readonly schema: string | undefined;
  /** The name of the table alone. */
  readonly name: string;
  /** These names are in quotes, and have the schema, if there is one. */
  readonly table: string;
  readonly loadFunction: string;
  readonly swapFunction: string;
}

/** @throws TypeError if `table` is no valid name */
function namesOf({ table = defaultTable }: PostgresStoreOptions): Names {
  const quoted = (suffix: string) => quotedName(table, '"', maxTableLength, 'postgres', suffix);
  const names = { table: quoted(''), loadFunction: quoted('_load'), swapFunction: quoted('_swap') };
  const [name = '', schema] = table.split('.').reverse();
  return { ...names, schema, name };
}
