export type { SqliteDatabase } from './database.ts';
export type { SqliteStoreOptions } from './sqlite-store.ts';
export { createTable, createTableSql, sqliteStore } from './sqlite-store.ts';
