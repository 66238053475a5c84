import type { LibsqlClient, Row, Statement, Transactions } from './database.ts';
import { isBusy } from './errors.ts';

/**
 * Every batch is a transaction that writes: one that reads may be answered by a replica, which may
 * be behind.
 */
export function libsqlTransactions(client: LibsqlClient): Transactions {
  const { protocol, reconnect } = client as { protocol?: string; reconnect?: () => unknown };
  const statementOf = ({ text, values }: Statement) => ({ sql: text, args: values }) as never;
  return {
    async run(change, query) {
      const statements = change ? [change, query] : [query];
      try {
        const results = (await client.batch(statements.map(statementOf), 'write' as never)) as { rows: Row[] }[];
        return results.at(-1)?.rows[0];
      } catch (error) {
        // A statement that found a file locked stays open, and no transaction of its connection can
        // be committed until the garbage collector closes it.
        if (protocol === 'file' && isBusy(error)) await reconnect?.call(client);
        throw error;
      }
    },
    create: (text) => client.execute(text as never),
  };
}
