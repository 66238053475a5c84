export type { PostgresStoreOptions } from './postgres-store.ts';
export { createTable, createTableSql, postgresStore } from './postgres-store.ts';
export type { Queryable } from './statements.ts';
