// Runs in a mount namespace of its own, which disk.test.ts opens: what the store does when its disk is full, and when it is read-only.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTable, sqliteStore } from '../src/index.ts';

const [mountPoint = '', mode = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0755', 'tmpfs', mountPoint]);
const file = join(mountPoint, 'database');
let database = new DatabaseSync(file);
database.exec(`pragma journal_mode = ${mode}`);
await createTable(database);

/** Replaces the record by a large one. */
async function write(record: string): Promise<unknown> {
  const store = sqliteStore(database);
  try {
    const { version: expected } = await store.load('key');
    const change = { expected, version: crypto.randomUUID(), record: record.padEnd(90_000, '.') };
    return (await store.swap('key', change)).swapped;
  } catch (error) {
    return (error as Error).name;
  }
}

const kept = async () =>
  sqliteStore(database)
    .load('key')
    .then(
      ({ record }) => record?.replace(/\.+$/, ''),
      ({ name }: Error) => name,
    );

const report: unknown[] = [await write('first')];
const filler = join(mountPoint, 'filler');
try {
  writeFileSync(filler, Buffer.alloc(2_000_000));
} catch {
  // Only as many as there was room for.
}
report.push(await write('second'), await kept());
rmSync(filler);
report.push(await write('third'));
database.close();
execFileSync('mount', ['-o', 'remount,ro', mountPoint]);
database = new DatabaseSync(file, { readOnly: mode === 'delete' });
report.push(await write('fourth'), await kept());
console.log(JSON.stringify(report));
