// A process of kills.test.ts: adds to the record until it has `limit` entries, and logs what was acknowledged.
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '../src/index.ts';

const [file = '', log = '', limit = '', killedAfter = ''] = process.argv.slice(2);
const store = sqliteStore(new DatabaseSync(file, { timeout: 5_000 }));

/** The result of a call, or undefined if the other processes locked the database for too long. */
async function unlessLocked<Result>(call: Promise<Result>): Promise<Result | undefined> {
  return call.catch((error: Error) => {
    if (error.name !== 'LockedDatabase') throw error;
    return undefined;
  });
}

let writes = 0;
for (let count = 0; writes < 2 * Number(killedAfter); count += 1) {
  const snapshot = await unlessLocked(store.load('fleet'));
  if (!snapshot) continue;
  const entries: string[] = JSON.parse(snapshot.record ?? '[]');
  if (entries.length >= Number(limit)) break;
  const entry = `${process.pid}.${count}`;
  const record = JSON.stringify([...entries, entry]);
  // A rejected swap may have been applied or not, so its entry is never used again.
  const result = await unlessLocked(
    store.swap('fleet', { expected: snapshot.version, version: crypto.randomUUID(), record }),
  );
  if (!result?.swapped) continue;
  appendFileSync(log, `${entry}\n`);
  process.send?.(entry);
  writes += 1;
}
// The process that wrote so often waits for its end, however late the signal comes.
if (writes >= Number(killedAfter)) await once(process, 'disconnect');
else process.disconnect?.();
