import type { Store } from '@service-auth/core';
import { createTable, type MysqlPool, mysqlStore } from '@service-auth/mysql';
import {
  AddressError,
  filesOf,
  labelOf,
  type OpenedStore,
  type OpenOptions,
  parametersOf,
  wrongTable,
} from './address.ts';
import { type Connection, connectingStore } from './connecting.ts';
import { type Diagnosis, ok, takesNoWrites } from './diagnosis.ts';
import { explained, explainingStore, wrongPassword } from './explaining.ts';
import { importFromHere } from './from-here.ts';

interface Pool extends MysqlPool {
  end(done: () => void): void;
  on(event: 'connection', listen: (connection: { destroy(): void }) => void): unknown;
  promise(): { query(sql: string, values?: unknown[]): Promise<[rows: Record<string, unknown>[]]> };
}

interface MysqlConnection extends Connection {
  readonly pool: Pool;
}

const names = ['table', 'ssl-ca', 'ssl-cert', 'ssl-key', 'ssl-mode'] as const;

/**
 * `mysql://USER:PASSWORD@HOST:PORT/DATABASE?table=`, also as `mariadb://`. With `ssl-mode=REQUIRED`
 * the connection has TLS, and the certificate and its name are checked; `ssl-ca`, `ssl-cert` and
 * `ssl-key` are files of PEM. Its driver mysql2 is looked for from the working directory.
 * @throws AddressError
 */
export async function openMysqlStore(url: URL, { writes }: OpenOptions): Promise<OpenedStore> {
  const { table, ...tls } = parametersOf(url.search, names);
  const settings = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3_306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    connectionLimit: 2,
    connectTimeout: 2_000,
    ...tlsOf(tls),
  };
  const { createPool } = (await importFromHere('mysql2')) as { createPool(settings: object): Pool };
  const options = table === undefined ? {} : { table };
  const described = describedStore(options);
  const { store, connection } = connectingStore<MysqlConnection>(described, async (ending) => {
    const pool = createPool(settings);
    // Connections that open later end too. An error of the farewell concerns nobody.
    ending.addEventListener('abort', () => pool.end(() => {}));
    // A connection that has gone silent does not answer a farewell either.
    pool.on('connection', (opened) => ending.addEventListener('abort', () => opened.destroy()));
    return { pool, store: mysqlStore(pool, options), isUsable: cameFromServer };
  });
  const create = writes ? async () => createTable((await connection()).pool, options) : undefined;
  const errors = { name: 'MysqlConnection', host: url.host, remedy: 'name it with ssl-ca=FILE', advices };
  const explaining = explainingStore(store, create, (error) => explained(error, errors));
  const query = async (sql: string, values: unknown[]) =>
    (await (await connection()).pool.promise().query(sql, values))[0];
  const name = described.name?.replace('table ', '') ?? '';
  return {
    store: explaining,
    label: labelOf(url, table),
    trial: (key) => ({ store: explaining, remove: () => query(`delete from ${name} where \`key\` = ?`, [key]) }),
    examine: async () => [await readOnly(query)],
  };
}

/**
 * The store without a connection, for what it says of itself.
 * @throws AddressError
 */
function describedStore(options: { table?: string }): Store {
  try {
    return mysqlStore({ query: () => undefined }, options);
  } catch {
    throw wrongTable('database');
  }
}

function tlsOf(given: ReturnType<typeof parametersOf<(typeof names)[number]>>): object {
  const files = filesOf({ ca: given['ssl-ca'], cert: given['ssl-cert'], key: given['ssl-key'] });
  const mode = given['ssl-mode'] ?? (Object.keys(files).length > 0 ? 'REQUIRED' : 'DISABLED');
  if (mode === 'DISABLED') return {};
  if (!['REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'].includes(mode)) {
    throw new AddressError('has an unknown ssl-mode; there are DISABLED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY');
  }
  return { ssl: { ...files, rejectUnauthorized: true, verifyIdentity: true } };
}

/** The server has answered with an error, so the connection works. */
function cameFromServer(error: unknown): boolean {
  return /^ER_/.test(Object(error).code);
}

async function readOnly(
  query: (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>,
): Promise<Diagnosis> {
  const [row] = await query('select @@read_only as answer', []);
  return Number(row?.['answer']) === 0
    ? ok('this server takes writes')
    : takesNoWrites('this server is read-only, as a replica is');
}

const advices = {
  ER_ACCESS_DENIED_ERROR: wrongPassword,
  ER_BAD_DB_ERROR: 'has no such database.',
  HANDSHAKE_NO_SSL_SUPPORT: 'offers no TLS, which ssl-mode asks for.',
};
