import { abortable } from '../platform/pause.ts';

/** The first row of an answer. */
export type Row = Record<string, unknown> | undefined;

/** A database, as {@link createStatements} uses it. */
export interface Database {
  /** Runs one statement in a transaction of its own. */
  query(text: string, values: string[]): Promise<Row>;
  /**
   * True if the statement changed nothing and only has to run again, because other statements
   * changed its rows meanwhile.
   */
  isConflict(error: unknown): boolean;
}

/** Runs the statements of all stores that share a pool. Each call returns the first row. */
export interface Statements {
  /**
   * Runs a statement once for all callers that ask before it starts. Equal statements run one at a
   * time, so a caller that asks during a run gets the next one.
   */
  runShared(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
  run(text: string, values: string[], signal: AbortSignal | undefined): Promise<Row>;
}

interface Shared {
  readonly done: Promise<Row>;
  /** The promise of the driver, once the statement was sent. */
  sent: Promise<unknown> | undefined;
  next: Promise<Row> | undefined;
}

const maxAttempts = 100;
/**
 * The first statement that is abandoned blocks others for this time at most, each further one for
 * twice as long.
 */
const firstBlockMs = 15_000;
const maxBlockMs = 300_000;

/**
 * A caller whose deadline passes cannot cancel its statement, because drivers have no common way to
 * do so. The server ends a statement that waits for a lock. It does not end one that waits for a
 * standby, whose trigger sleeps, or whose connection broke. While such an abandoned statement runs,
 * no other one is sent for a time, so the store occupies few connections of the pool. After that
 * time another one is tried, because other connections may work.
 */
export function createStatements(database: Database, now: () => number = () => performance.now()): Statements {
  /**
   * The statements that run after their deadline, and the instant until which each of them blocks
   * others.
   */
  const abandoned = new Map<Promise<unknown>, number>();
  const shared = new Map<string, Shared>();

  function abandon(statement: Promise<unknown> | undefined): void {
    if (!statement || abandoned.has(statement)) return;
    abandoned.set(statement, now() + Math.min(maxBlockMs, firstBlockMs * 2 ** abandoned.size));
    const forget = () => abandoned.delete(statement);
    statement.then(forget, forget);
  }

  /**
   * Resolves when no abandoned statement blocks others. If a block ends by time, the next caller
   * goes on, but not the callers that wait already.
   */
  async function unblocked(signal: AbortSignal | undefined): Promise<void> {
    const blocking = [...abandoned].filter(([, until]) => now() < until).map(([statement]) => statement);
    await abortable(Promise.allSettled(blocking), signal);
    signal?.throwIfAborted();
  }

  async function send(
    text: string,
    values: string[],
    onSent: (statement: Promise<unknown>) => void,
    signal?: AbortSignal,
  ): Promise<Row> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const statement = database.query(text, values);
        onSent(statement);
        return await abortable(statement, signal);
      } catch (error) {
        if (!database.isConflict(error) || attempt === maxAttempts) throw error;
        signal?.throwIfAborted();
      }
    }
  }

  function begin(id: string, text: string, values: string[]): Shared {
    const onSent = (statement: Promise<unknown>) => {
      entry.sent = statement;
    };
    // `onSent` needs the entry.
    const done = Promise.resolve()
      .then(() => send(text, values, onSent))
      .finally(() => {
        if (shared.get(id) === entry && !entry.next) shared.delete(id);
      });
    const entry: Shared = { done, sent: undefined, next: undefined };
    shared.set(id, entry);
    return entry;
  }

  return {
    async runShared(text, values, signal) {
      await unblocked(signal);
      const id = [text, ...values].map((part) => `${part.length} ${part}`).join();
      const running = shared.get(id);
      const start = () => begin(id, text, values).done;
      // An abandoned statement that blocks no others any more may never end.
      const isLost = running?.sent !== undefined && abandoned.has(running.sent);
      const entry = running && !isLost ? running : begin(id, text, values);
      if (entry === running) entry.next ??= entry.done.then(start, start);
      try {
        return await abortable(entry.next ?? entry.done, signal);
      } catch (error) {
        if (signal?.aborted) abandon(shared.get(id)?.sent);
        throw error;
      }
    },
    async run(text, values, signal) {
      await unblocked(signal);
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
