/**
 * Shares the token and the count in MySQL or MariaDB.
 *
 * @experimental It has run with MariaDB, and not yet with MySQL.
 * @module
 */

export type { MysqlStoreOptions } from './mysql-store.ts';
export { createTable, createTableSql, mysqlStore } from './mysql-store.ts';
export type { MysqlPool } from './pool.ts';
