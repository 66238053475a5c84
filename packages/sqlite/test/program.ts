// Runs the contract of stores on a file, in whatever runtime runtimes.test.ts starts it, and prints the problem of each case.
import { createRequire } from 'node:module';
import { storeContract } from '@service-auth/testing';
import type { SyncDatabase } from '../src/database.ts';
import { createTable, sqliteStore } from '../src/index.ts';

interface Driver {
  readonly Database?: new (file: string) => SyncDatabase & { close(): void };
  readonly DatabaseSync?: new (file: string) => SyncDatabase & { close(): void };
}

const [driver = '', file = ''] = process.argv.slice(2);
const { Database, DatabaseSync = Database } = createRequire(import.meta.url)(driver) as Driver;
if (!DatabaseSync) throw new Error(`${driver} has no class of databases.`);
const Opened = DatabaseSync;

const cases = storeContract(async () => {
  const databases: { close(): void }[] = [];
  async function another() {
    const database = new Opened(file);
    databases.push(database);
    await createTable(database);
    return sqliteStore(database);
  }
  return {
    store: await another(),
    another,
    close: async () => {
      for (const database of databases) database.close();
    },
  };
});
const results: { name: string; problem: string | null }[] = [];
for (const { name, run } of cases) {
  const problem = await run().then(
    () => null,
    (error: Error) => String(error.stack ?? error),
  );
  results.push({ name, problem });
}
console.log(JSON.stringify(results));
