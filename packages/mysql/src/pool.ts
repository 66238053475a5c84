import { Buffer } from 'node:buffer';
import { createStatements, type Row, type Statements } from '@service-auth/core/sql';
import { storeError } from '@service-auth/core/store';

/**
 * A pool of mysql2, of its promise or its callback interface; a pool of the `mariadb` driver; or
 * any other object whose `query()` returns a promise of the same results.
 */
export interface MysqlPool {
  query(sql: string, values: never): unknown;
}

/** ER_LOCK_DEADLOCK, which is also a conflict with another node of a cluster, and ER_CHECKREAD. */
const conflicts: readonly unknown[] = [1213, 1020];

const byPool = new WeakMap<MysqlPool, Statements>();

export function statementsOf(pool: MysqlPool): Statements {
  const statements = byPool.get(pool) ?? createStatementsOf(pool);
  byPool.set(pool, statements);
  return statements;
}

function createStatementsOf(pool: MysqlPool): Statements {
  return createStatements({
    // As bytes, the values depend neither on the character set of the connection nor on
    // NO_BACKSLASH_ESCAPES.
    query: async (text, values) =>
      firstRow(
        await run(
          pool,
          text,
          values.map((value) => Buffer.from(value)),
        ),
      ),
    isConflict: (error) => conflicts.includes(numberOf(error)),
  });
}

/** Runs a statement, and resolves with the result of the driver. */
export async function run(pool: MysqlPool, text: string, values: readonly Buffer[] = []): Promise<unknown> {
  const { promise } = pool as { promise?: () => MysqlPool };
  // A callback pool of mysql2 has a promise pool.
  const answer: unknown = (typeof promise === 'function' ? promise.call(pool) : pool).query(text, values as never);
  if (answer instanceof Object && 'then' in answer) return answer;
  const advice =
    "query() of the pool returns no promise: take the pool of mysql2 or of 'mariadb', not of 'mariadb/callback'.";
  throw storeError('CallbackPool', undefined, advice);
}

/** The number that the server gave an error. */
export function numberOf(error: unknown): unknown {
  return (error as { errno?: unknown } | null | undefined)?.errno;
}

/**
 * Returns the first row of a procedure's answer. mysql2 resolves with `[[rows, status], fields]`,
 * mariadb with `[rows, status]`. A row is an object, or an array if the pool has the option
 * `rowsAsArray`.
 */
function firstRow(answer: unknown): Row {
  let first = answer;
  while (Array.isArray(first) && isRowOrList(first[0])) first = first[0];
  return isRowOrList(first) ? (first as Row) : undefined;
}

function isRowOrList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** A column of bytes as text; undefined if it is null. A pool may be configured to return text. */
export function textOf(column: unknown): string | undefined {
  if (column instanceof Uint8Array) return Buffer.from(column).toString();
  return typeof column === 'string' ? column : undefined;
}
