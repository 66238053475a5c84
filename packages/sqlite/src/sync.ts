import type { Row, Statement, SyncDatabase, Transactions } from './database.ts';

/**
 * Nothing else runs between two statements here, so the settings of the connection can differ for
 * that time. Without a busy timeout the driver does not block the process while others write: the
 * store tries again. With `synchronous = extra` a commit waits for the disk in each journal mode.
 * Each attached file has a value of its own. The transaction is ours: `begin` fails within a
 * transaction of the application, whose rollback would undo the count.
 */
export function syncTransactions(database: SyncDatabase, schema: string): Transactions {
  const synchronous = `${schema}.synchronous`;

  function pragma(name: string): unknown {
    return Object.values(Object(firstRow(database.prepare(`pragma ${name}`).all())))[0];
  }

  function withSettings<Result>(run: () => Result): Result {
    const timeout = pragma('busy_timeout');
    database.exec('pragma busy_timeout = 0');
    try {
      // On a new connection this reads the file, which may be locked.
      const before = pragma(synchronous);
      database.exec(`pragma ${synchronous} = extra`);
      try {
        return run();
      } finally {
        database.exec(`pragma ${synchronous} = ${before}`);
      }
    } finally {
      database.exec(`pragma busy_timeout = ${timeout}`);
    }
  }

  function inTransaction<Result>(begin: string, run: () => Result): Result {
    database.exec(begin);
    try {
      const result = run();
      database.exec('commit');
      return result;
    } catch (error) {
      try {
        database.exec('rollback');
      } catch {
        // SQLite has rolled back by itself, as it does when the disk is full.
      }
      throw error;
    }
  }

  return {
    run: (change, query) =>
      withSettings(() =>
        // A transaction that begins as a reader may be refused when it writes.
        inTransaction(change ? 'begin immediate' : 'begin', () => {
          if (change) database.prepare(change.text).run(...(change.values as readonly never[]));
          return rowOf(database, query);
        }),
      ),
    create: (text) => withSettings(() => database.exec(text)),
  };
}

function rowOf(database: SyncDatabase, { text, values }: Statement): Row | undefined {
  return firstRow(database.prepare(text).all(...(values as readonly never[])));
}

/**
 * The statement is read to its end with all(). With get() some drivers leave it open, and with it a
 * lock of the file.
 */
function firstRow(rows: unknown[]): Row | undefined {
  return rows[0] as Row | undefined;
}
