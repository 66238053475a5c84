import { createStatements as createStatementsOf, type Statements } from '@service-auth/core/sql';

/**
 * Runs one statement with numbered parameters, in a transaction of its own: a `pg` Pool, or any
 * other driver with three lines of adapter code. Never pass a connection whose transaction other
 * code begins: its rollback would undo the count.
 */
export interface Queryable {
  query(text: string, values: string[]): Promise<{ rows: Record<string, unknown>[] }>;
}

const serializationFailure = '40001';
const activeTransaction = '25001';

const byPool = new WeakMap<Queryable, Statements>();

export function statementsOf(pool: Queryable): Statements {
  const statements = byPool.get(pool) ?? createStatements(pool);
  byPool.set(pool, statements);
  return statements;
}

export function createStatements(pool: Queryable, now?: () => number): Statements {
  const database = {
    async query(text: string, values: string[]) {
      if (isInTransaction(pool)) throw Object.assign(new Error('within a transaction'), { code: activeTransaction });
      return (await pool.query(text, values)).rows[0];
    },
    // At stricter isolation levels than the default, PostgreSQL fails a statement whose rows
    // changed meanwhile, instead of reading them again.
    isConflict: (error: unknown) => (error as { code?: unknown } | undefined)?.code === serializationFailure,
  };
  return createStatementsOf(database, now);
}

/**
 * True for a connection within a transaction, as `pg` tells it, and for an object that is a
 * transaction, as those of PGlite are.
 */
export function isInTransaction(pool: Queryable): boolean {
  const { getTransactionStatus, commit, rollback } = pool as Queryable & Record<string, unknown>;
  if (typeof commit === 'function' || typeof rollback === 'function') return true;
  // `I` is idle, and null is not known yet.
  return typeof getTransactionStatus === 'function' && /^[TE]$/.test(String(getTransactionStatus.call(pool)));
}
