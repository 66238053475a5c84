/**
 * A database of node:sqlite, better-sqlite3, `bun:sqlite` or another driver that answers at once.
 */
export interface SyncDatabase {
  prepare(sql: string): { all(...values: never[]): unknown[]; run(...values: never[]): unknown };
  exec(sql: string): unknown;
}

/** A client of `@libsql/client`: a file, or a server such as Turso's. */
export interface LibsqlClient {
  batch(statements: never[], mode: never): Promise<unknown[]>;
  execute(statement: never): Promise<unknown>;
}

/**
 * A binding of Cloudflare D1, such as `env.DB`.
 *
 * @experimental It has run in workerd, and not yet at Cloudflare.
 */
export interface D1Binding {
  prepare(sql: string): { bind(...values: never[]): unknown };
  batch(statements: never[]): Promise<unknown[]>;
  /** A session of D1, whose reads may be answered by a replica, has no such method. */
  exec(sql: string): Promise<unknown>;
}

/** The databases that `sqliteStore` takes. It knows them by their methods. */
export type SqliteDatabase = SyncDatabase | LibsqlClient | D1Binding;

export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** The row of an answer: an object or, if the database is configured so, an array. */
export type Row = Readonly<Record<string, unknown>> | readonly unknown[];

/** Runs transactions of ours, each of which is atomic and on the disk when it is done. */
export interface Transactions {
  /** Runs `change`, if there is one, then `query`, and returns the first row of `query`. */
  run(change: Statement | undefined, query: Statement): Promise<Row | undefined> | Row | undefined;
  /** Runs a statement that creates something. */
  create(text: string): unknown;
}
