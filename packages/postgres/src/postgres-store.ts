import type { Store } from '@service-auth/core';

/** Anything that runs one statement with numbered parameters: a `pg` Pool or Client, and by three lines any other driver. */
export interface Queryable {
  query(text: string, values: string[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Options of {@link postgresStore} and {@link createTable}. */
export interface PostgresStoreOptions {
  /** Name of the table, with or without a schema: letters, digits and underscores. Default `service_auth`. */
  table?: string | undefined;
}

const undefinedTable = '42P01';
const serializationFailure = '40001';
const deadlockDetected = '40P01';
/** What `create table if not exists` fails with when another process creates it: unique_violation, duplicate_table, duplicate_object (its type). */
const createdMeanwhile = ['23505', '42P07', '42710'];

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::text as now';
// Within the statement, so that it holds behind any pooler: what is acknowledged survives, whatever the session says.
const durably = `${clock}, set_config('synchronous_commit', 'on', true)`;

/**
 * Keeps records in PostgreSQL (12 and newer), one row for each client of the service. Every operation is one statement in a transaction of its own, so any
 * mode of PgBouncer will do. Both methods reject when the database does not answer or the table is missing.
 * @throws TypeError for a pool that has no `query()`, and for a table name that is none
 */
export function postgresStore(pool: Queryable, options: PostgresStoreOptions = {}): Store {
  if (typeof pool?.query !== 'function') {
    throw new TypeError(
      '[service-auth/postgres] postgresStore(pool) takes what has query(), such as a Pool, not its URL.',
    );
  }
  const table = quoted(options.table);
  const statements = {
    load: `select version, record, ${clock} from (select 1) as always left join ${table} on key = $1`,
    // Matching the new version as well makes a repeated change report what the first one did.
    replace: `update ${table} set version = $3, record = $4 where key = $1 and version in ($2, $3) returning ${durably}`,
    insert: `insert into ${table} as present (key, version, record) values ($1, $2, $3)
      on conflict (key) do update set version = present.version where present.version = $2 returning ${durably}`,
    time: `select ${clock}`,
  };

  async function run(statement: string, values: string[], signal: AbortSignal | undefined) {
    for (;;) {
      try {
        const { rows } = await unlessAborted(() => pool.query(statement, values), signal);
        return rows[0];
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code === undefinedTable) throw missingTable();
        // Sessions of a stricter isolation level than the usual one refuse what others changed meanwhile, instead of looking again.
        if (code !== serializationFailure && code !== deadlockDetected) throw error;
      }
    }
  }

  return {
    durability: 'durable',
    async load(key, { signal } = {}) {
      const { version, record, now } = (await run(statements.load, [key], signal)) ?? {};
      const found = typeof version === 'string' && typeof record === 'string' ? { version, record } : {};
      return { ...found, now: Number(now) };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const row =
        expected === undefined
          ? await run(statements.insert, [key, version, record], signal)
          : await run(statements.replace, [key, expected, version, record], signal);
      const { now } = row ?? (await run(statements.time, [], signal)) ?? {};
      return { swapped: row !== undefined, now: Number(now) };
    },
  };
}

/** The table, for people who migrate by hand. */
export function createTableSql(options: PostgresStoreOptions = {}): string {
  return `create table if not exists ${quoted(options.table)} (key text primary key, version text not null, record text not null)`;
}

/** Creates the table if it is missing. Any number of processes may do so at once. */
export async function createTable(pool: Queryable, options: PostgresStoreOptions = {}): Promise<void> {
  const sql = createTableSql(options);
  try {
    await pool.query(sql, []);
  } catch (error) {
    // "if not exists" looks before it creates. The second time it is there; if not, something else has its name, and this rejects.
    if (!createdMeanwhile.includes(String((error as { code?: unknown }).code))) throw error;
    await pool.query(sql, []);
  }
}

function missingTable(): Error {
  const advice = 'run createTable(pool), or the SQL of createTableSql().';
  // Core passes on name, code and advice, and nothing else of an error.
  return Object.assign(new Error(`The table is missing: ${advice}`), {
    name: 'MissingTable',
    code: undefinedTable,
    advice,
  });
}

function quoted(table = 'service_auth'): string {
  if (!/^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/.test(table)) {
    throw new TypeError('table must be a name of letters, digits and underscores, with or without a schema');
  }
  return table
    .split('.')
    .map((name) => `"${name}"`)
    .join('.');
}

/** Drivers wait for a silent server for ever. */
async function unlessAborted<Result>(start: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  signal?.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([start(), aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
