// A process of kills.test.ts: adds to the record until it has `limit` entries, and logs what was acknowledged.
import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createTable, sqliteStore } from '../src/index.ts';

const [file = '', log = '', limit = '', mode = ''] = process.argv.slice(2);
const database = new DatabaseSync(file, { timeout: 5_000 });
database.exec(`pragma journal_mode = ${mode}`);
await createTable(database);
const store = sqliteStore(database);

for (let count = 0; ; count += 1) {
  const { record, version } = await store.load('fleet').catch(() => store.load('fleet'));
  const entries: string[] = JSON.parse(record ?? '[]');
  if (entries.length >= Number(limit)) break;
  const entry = `${process.pid}.${count}`;
  const change = { expected: version, version: crypto.randomUUID(), record: JSON.stringify([...entries, entry]) };
  // A rejected swap may have been applied or not, so its entry is never used again.
  const result = await store.swap('fleet', change).catch(() => undefined);
  if (!result?.swapped) continue;
  appendFileSync(log, `${entry}\n`);
  process.send?.(entry);
}
process.disconnect?.();
