import { createPool as createMariadbPool } from 'mariadb';
import mysql2 from 'mysql2';
import type { MysqlPool } from '../src/index.ts';

export interface Connection {
  readonly pool: MysqlPool;
  close(): Promise<unknown>;
}

const connectionLimit = 4;

/** Settings of a session that an application may have. Each of them breaks a store that depends on it. */
const unusual = [
  'autocommit = 0',
  'completion_type = CHAIN',
  "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'",
  "time_zone = '+05:45'",
  'timestamp = 1000000000',
  'sql_safe_updates = 1',
];

/** A pool of each driver. */
export const drivers: Record<'mysql2' | 'mysql2, unusual' | 'mariadb', (url: string) => Connection> = {
  mysql2(url) {
    const pool = mysql2.createPool({ uri: url, connectionLimit }).promise();
    return { pool, close: () => pool.end() };
  },
  // The rows of this pool of callbacks are arrays, and its sessions have unusual settings.
  'mysql2, unusual'(url) {
    const pool = mysql2.createPool({
      ...{ uri: url, connectionLimit },
      ...{ charset: 'latin1', timezone: '-03:30', rowsAsArray: true, bigNumberStrings: true, supportBigNumbers: true },
      flags: ['-FOUND_ROWS'],
    });
    pool.on('connection', (connection) => {
      connection.query(`set session ${unusual.join(', session ')}`);
      connection.query('set session transaction isolation level serializable, read only');
    });
    return { pool, close: () => pool.promise().end() };
  },
  mariadb(url) {
    const { hostname, port, username, pathname } = new URL(url);
    const pool = createMariadbPool({
      ...{ host: hostname, port: Number(port), user: username, database: pathname.slice(1), connectionLimit },
    });
    return { pool, close: () => pool.end() };
  },
};
