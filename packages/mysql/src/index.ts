export type { MysqlStoreOptions } from './mysql-store.ts';
export { createTable, createTableSql, mysqlStore } from './mysql-store.ts';
export type { MysqlPool } from './pool.ts';
