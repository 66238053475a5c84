/** Anything that runs one statement with numbered parameters: a `pg` Pool or Client, and by three lines any other driver. */
export interface Queryable {
  query(text: string, values: string[]): Promise<{ rows: Record<string, unknown>[] }>;
}

type Row = Record<string, unknown> | undefined;

/** Runs the statements of all stores that share a pool. Each returns its first row. */
export interface Statements {
  /** Once for all who ask before it starts. One of a kind runs at a time, so whoever asks while it runs gets the next one. */
  runShared(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
  run(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
}

interface Shared {
  readonly startedAt: number;
  readonly done: Promise<Row>;
  /** What the driver was given. */
  sent: Promise<unknown> | undefined;
  next: Promise<Row> | undefined;
}

const serializationFailure = '40001';
const maxAttempts = 100;
/** A connection that broke without a word never answers. After this long its statement counts as lost, and others go on. */
const lostAfterMs = 300_000;

const byPool = new WeakMap<Queryable, Statements>();

export function statementsOf(pool: Queryable): Statements {
  const statements = byPool.get(pool) ?? createStatements(pool);
  byPool.set(pool, statements);
  return statements;
}

/**
 * A caller who gives up cannot end a statement: drivers have no common way to do so. The server ends it, see `createTableSql()`, unless it waits for a standby
 * or cannot be reached. So while a statement runs that somebody gave up on, no other one is sent: of a pool, ours occupy no more connections than they
 * did when the server stopped answering.
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
        // Sessions of a stricter isolation level than the usual one refuse what others changed meanwhile, instead of looking again.
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
      const id = JSON.stringify([text, values]);
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

/** Drivers wait for a silent server for ever. */
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
