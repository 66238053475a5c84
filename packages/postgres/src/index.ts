export type { PostgresStoreOptions, Queryable } from './postgres-store.ts';
export { createTable, createTableSql, postgresStore } from './postgres-store.ts';
