import { d1Transactions } from './d1.ts';
import type { D1Binding, LibsqlClient, SqliteDatabase, SyncDatabase, Transactions } from './database.ts';
import { libsqlTransactions } from './libsql.ts';
import { syncTransactions } from './sync.ts';

/**
 * `schema` is the name of the database on the connection, in quotes: `"main"`, or the name under
 * which one is attached.
 * @throws TypeError for what is none of the known databases
 */
export function transactionsOf(database: SqliteDatabase, schema: string): Transactions {
  // A driver is known by its methods, because names of classes differ between builds.
  const has = (name: string) => typeof Object(database)[name] === 'function';
  const isTransaction = has('commit') || has('getBookmark');
  if (has('batch') && has('execute') && !isTransaction) return libsqlTransactions(database as LibsqlClient);
  if (has('batch') && has('prepare') && !isTransaction) return d1Transactions(database as D1Binding);
  // createSession: node:sqlite; pragma: better-sqlite3; query: bun:sqlite. The package sqlite3,
  // which has only callbacks, has none of them.
  const isSync = ['createSession', 'pragma', 'query'].some(has);
  if (has('prepare') && has('exec') && isSync) return syncTransactions(database as SyncDatabase, schema);
  throw new TypeError(
    '[service-auth/sqlite] sqliteStore(database) takes a database of node:sqlite, better-sqlite3 or bun:sqlite, a client of @libsql/client, or a binding of Cloudflare D1, such as env.DB; no path, session or transaction.',
  );
}
