import type { Store } from '@service-auth/core';
import { createTable, postgresStore } from '@service-auth/postgres';
import pg from 'pg';
import { counted } from '../report/text.ts';
import {
  contentOf,
  labelOf,
  type OpenedStore,
  type OpenOptions,
  type OtherPlace,
  type OtherPlaces,
  parameterOf,
  wrongTable,
} from './address.ts';
import { type Diagnosis, ok, takesNoWrites } from './diagnosis.ts';
import { explained, explainingStore, wrongPassword } from './explaining.ts';

/**
 * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?table=`; other parameters, such as `sslmode` and
 * `sslrootcert`, are those of libpq. Every `sslmode` that encrypts checks the certificate and its
 * name, but `no-verify`.
 */
export function openPostgresStore(url: URL, { writes }: OpenOptions): OpenedStore {
  const table = url.searchParams.get('table') ?? undefined;
  url.searchParams.delete('table');
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = url.searchParams.get(name);
    if (file !== null) contentOf(file);
  }
  const mode = url.searchParams.get('sslmode');
  // pg does this by itself, with a warning on standard error.
  if (mode !== null && ['prefer', 'require', 'verify-ca'].includes(mode))
    url.searchParams.set('sslmode', 'verify-full');
  const pool = new pg.Pool({
    connectionString: url.href,
    max: 2,
    connectionTimeoutMillis: 2_000,
    // A connection that has gone silent must give its place in the pool back.
    query_timeout: 4_000,
    application_name: 'service-auth',
    allowExitOnIdle: true,
  });
  // Each failure reaches the call that waits for it.
  pool.on('error', () => {});
  const options = table === undefined ? {} : { table };
  try {
    const store = postgresStore(pool, options);
    const create = writes ? () => createTable(pool, options) : undefined;
    const errors = { name: 'PostgresConnection', host: url.host, remedy: 'name it with sslrootcert=FILE', advices };
    const connected = explainingStore(store, create, (error) => explained(error, errors));
    const name = (table ?? 'service_auth')
      .split('.')
      .map((part) => `"${part}"`)
      .join('.');
    return {
      store: connected,
      label: labelOf(url, table),
      trial: (key) => ({ store: connected, remove: () => pool.query(`delete from ${name} where key = $1`, [key]) }),
      examine: async () => [await standby(pool)],
      others: async (key) => ({
        ...(await tablesWith(pool, key, name)),
        // Other parameters and a user do not go without the password.
        addressOf: (parameter) =>
          url.username === '' && url.password === '' && url.search === '' ? `${labelOf(url)}?${parameter}` : undefined,
      }),
    };
  } catch {
    throw wrongTable('schema');
  }
}

async function standby(pool: pg.Pool): Promise<Diagnosis> {
  const { rows } = await pool.query<{ recovers: boolean; replicas: string }>(
    'select pg_is_in_recovery() as recovers, (select count(*) from pg_stat_replication) as replicas',
  );
  const { recovers = false, replicas = '0' } = rows[0] ?? {};
  return recovers
    ? takesNoWrites('this server is a standby, which takes no writes')
    : ok(`this server takes writes and has ${counted(Number(replicas), 'standby')}`);
}

const maxTables = 100;

/** Finds other tables that have this key. `own`: the table of the address, in quotes. */
async function tablesWith(pool: pg.Pool, key: string, own: string): Promise<Omit<OtherPlaces, 'addressOf'>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
      where c.relkind in ('r', 'p') and c.oid is distinct from to_regclass($1) and has_table_privilege(c.oid, 'select')
        and has_schema_privilege(c.relnamespace, 'usage')
        and (select count(*) from pg_attribute a where a.attrelid = c.oid and not a.attisdropped
          and a.attname in ('key', 'version', 'record') and a.atttypid = 'text'::regtype) = 3
      order by name limit ${maxTables}`,
    [own],
  );
  const found: OtherPlace[] = [];
  for (const { name } of tables) {
    // PostgreSQL put the name in quotes, where it needs them.
    const { rows } = await pool.query(`select from ${name} where key = $1`, [key]);
    const table = name.replaceAll('"', '');
    if (rows.length > 0) found.push({ name, parameter: parameterOf('table', table), store: storeOf(pool, table) });
  }
  return { kind: 'table', found, searched: tables.length < maxTables ? undefined : `the first ${maxTables} tables` };
}

/** Undefined: the table has a name that no store has. */
function storeOf(pool: pg.Pool, table: string): Store | undefined {
  try {
    return postgresStore(pool, { table });
  } catch {
    return undefined;
  }
}

const advices = {
  '28P01': wrongPassword,
  '28000': 'did not accept the user of SERVICE_AUTH_STORE.',
  '3D000': 'has no such database.',
  'The server does not support SSL connections': 'offers no TLS, which sslmode asks for.',
};
