/** A database of node:sqlite, better-sqlite3, `bun:sqlite` or another driver that answers at once. */
export interface SyncDatabase {
  // biome-ignore lint/suspicious/noExplicitAny: each driver has types of its own for values and rows
  prepare(sql: string): { all(...values: any[]): any[]; run(...values: any[]): any };
  exec(sql: string): unknown;
}

/** A client of `@libsql/client`: a file, or a server such as Turso's. */
export interface LibsqlClient {
  // biome-ignore lint/suspicious/noExplicitAny: the types of statements differ between versions
  batch(statements: any[], mode?: any): Promise<any[]>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  execute(statement: any): Promise<any>;
}

/** A binding of Cloudflare D1, such as `env.DB`. */
export interface D1Binding {
  // biome-ignore lint/suspicious/noExplicitAny: the declarations of workers are not installed everywhere
  prepare(sql: string): { bind(...values: any[]): any };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  batch(statements: any[]): Promise<any[]>;
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
