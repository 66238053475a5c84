/** Runs one statement with numbered parameters: a `pg` Pool or Client, or any other driver with three lines of adapter code. */
export interface Queryable {
  query(text: string, values: string[]): Promise<{ rows: Record<string, unknown>[] }>;
}

type Row = Record<string, unknown> | undefined;

/** Runs the statements of all stores that share a pool. Each call returns the first row. */
export interface Statements {
  /** Runs a statement once for all callers that ask before it starts. Equal statements run one at a time, so a caller that asks during a run gets the next one. */
  runShared(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
  run(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
}

interface Shared {
  readonly startedAt: number;
  readonly done: Promise<Row>;
  /** The promise of the driver, once the statement was sent. */
  sent: Promise<unknown> | undefined;
  next: Promise<Row> | undefined;
}

const serializationFailure = '40001';
const maxAttempts = 100;
/** A connection that broke silently never answers. After this time its statement counts as lost and blocks no others. */
const lostAfterMs = 300_000;

const byPool = new WeakMap<Queryable, Statements>();

export function statementsOf(pool: Queryable): Statements {
  const statements = byPool.get(pool) ?? createStatements(pool);
  byPool.set(pool, statements);
  return statements;
}

/**
 * A caller whose deadline passes cannot cancel its statement, because drivers have no common way to do so. The server ends the statement (see
 * `createTableSql()`) unless it waits for a standby or cannot be reached. While such an abandoned statement runs, no other one is sent, so the
 * store occupies no more connections of the pool than when the server stopped answering.
 */
export function createStatements(pool: Queryable, now: () => number = () => performance.now()): Statements {
  const abandoned = new Map<Promise<unknown>, number>();
  const shared = new Map<string, Shared>();

  function abandon(statement: Promise<unknown> | undefined): void {
    if (!statement || abandoned.has(statement)) return;
    abandoned.set(statement, now());
    const forget = () => abandoned.delete(statement);
    statement.then(forget, forget);
  }

  async function abandonedAreDone(): Promise<void> {
    const recent = [...abandoned].filter(([, since]) => now() - since < lostAfterMs).map(([statement]) => statement);
    await Promise.allSettled(recent);
  }

  async function send(
    text: string,
    values: string[],
    onSent: (statement: Promise<unknown>) => void,
    signal?: AbortSignal,
  ): Promise<Row> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const statement = pool.query(text, values);
        onSent(statement);
        return (await raced(statement, signal)).rows[0];
      } catch (error) {
        // At stricter isolation levels than the default, PostgreSQL fails a statement whose rows changed meanwhile, instead of reading them again.
        const isConflict = (error as { code?: unknown } | undefined)?.code === serializationFailure;
        if (!isConflict || attempt === maxAttempts) throw error;
        signal?.throwIfAborted();
      }
    }
  }

  function begin(id: string, text: string, values: string[]): Shared {
    const onSent = (statement: Promise<unknown>) => {
      entry.sent = statement;
    };
    const done = abandonedAreDone()
      .then(() => send(text, values, onSent))
      .finally(() => {
        if (shared.get(id) === entry && !entry.next) shared.delete(id);
      });
    const entry: Shared = { startedAt: now(), done, sent: undefined, next: undefined };
    shared.set(id, entry);
    return entry;
  }

  return {
    async runShared(text, values, signal) {
      signal?.throwIfAborted();
      const id = [text, ...values].map((part) => `${part.length} ${part}`).join();
      const running = shared.get(id);
      const start = () => begin(id, text, values).done;
      const isLost = running !== undefined && now() - running.startedAt > lostAfterMs;
      const entry = running && !isLost ? running : begin(id, text, values);
      if (entry === running) entry.next ??= entry.done.then(start, start);
      try {
        return await raced(entry.next ?? entry.done, signal);
      } catch (error) {
        if (signal?.aborted) abandon(shared.get(id)?.sent);
        throw error;
      }
    },
    async run(text, values, signal) {
      signal?.throwIfAborted();
      await raced(abandonedAreDone(), signal);
      let sent: Promise<unknown> | undefined;
      const onSent = (statement: Promise<unknown>) => {
        sent = statement;
      };
      try {
        return await send(text, values, onSent, signal);
      } catch (error) {
        if (signal?.aborted) abandon(sent);
        throw error;
      }
    },
  };
}

/** Stops waiting when `signal` aborts, because drivers wait for a silent server without limit. */
async function raced<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
  });
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
