import { d1Transactions } from './d1.ts';
import type { D1Binding, LibsqlClient, SqliteDatabase, SyncDatabase, Transactions } from './database.ts';
import { libsqlTransactions } from './libsql.ts';
import { syncTransactions } from './sync.ts';

/** The methods by which a driver is known. Names of classes differ between builds. */
type Shape = Readonly<Record<string, unknown>>;

const isFunction = (value: unknown) => typeof value === 'function';

/**
 * `schema` is the name of the database on the connection, in quotes: `"main"`, or the name under which one is attached.
 * @throws TypeError for what is none of the known databases
 */
export function transactionsOf(database: SqliteDatabase, schema: string): Transactions {
  const { prepare, exec, batch, execute, ...shape } = shapeOf(database);
  const isTransaction = isFunction(shape['commit']) || isFunction(shape['getBookmark']);
  if (isFunction(batch) && isFunction(execute) && !isTransaction) return libsqlTransactions(database as LibsqlClient);
  if (isFunction(batch) && isFunction(prepare) && !isTransaction) return d1Transactions(database as D1Binding);
  // createSession: node:sqlite; pragma: better-sqlite3; query: bun:sqlite. The package sqlite3, which has only callbacks, has none of them.
  const isSync = ['createSession', 'pragma', 'query'].some((name) => isFunction(shape[name]));
  if (isFunction(prepare) && isFunction(exec) && isSync) return syncTransactions(database as SyncDatabase, schema);
  throw new TypeError(
    '[service-auth/sqlite] sqliteStore(database) takes a database of node:sqlite, better-sqlite3 or bun:sqlite, a client of @libsql/client, or a binding of Cloudflare D1, such as env.DB; no path, session or transaction.',
  );
}

function shapeOf(database: unknown): Shape {
  const names = ['prepare', 'exec', 'batch', 'execute', 'commit', 'getBookmark', 'createSession', 'pragma', 'query'];
  const value = Object(database) as Shape;
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}
