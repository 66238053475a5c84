import type { D1Binding, Row, Transactions } from './database.ts';

/**
 * A batch is a transaction. Each one has a session of its own, which begins at the primary
 * database: a replica may be behind. No promise is shared between requests, because a Worker must
 * not wait for the I/O of another request.
 */
export function d1Transactions(database: D1Binding): Transactions {
  const { withSession } = database as { withSession?: (constraint: string) => D1Binding };
  return {
    async run(change, query) {
      const session = withSession ? withSession.call(database, 'first-primary') : database;
      const statements = (change ? [change, query] : [query]).map(({ text, values }) =>
        session.prepare(text).bind(...(values as readonly never[])),
      );
      const results = (await session.batch(statements as never[])) as { results: Row[] }[];
      return results.at(-1)?.results[0];
    },
    create: (text) => database.batch([database.prepare(text).bind() as never]),
  };
}
