// One of the processes that fleet.test.ts starts: adds to the record until it is full, and logs what was acknowledged.
import { appendFileSync } from 'node:fs';
import { fileStore } from '../src/index.ts';

const [directory = '', log = '', limit = ''] = process.argv.slice(2);
const store = fileStore(directory);

for (let count = 0; ; ) {
  const { record, version } = await store.load('fleet');
  const granted: string[] = JSON.parse(record ?? '[]');
  if (granted.length >= Number(limit)) break;
  const id = `${process.pid}.${count}`;
  const change = { expected: version, version: crypto.randomUUID(), record: JSON.stringify([...granted, id]) };
  // A rejected swap may have been applied or not, so its id is never used again.
  const result = await store.swap('fleet', change).catch(() => undefined);
  if (result?.swapped) {
    appendFileSync(log, `${id}\n`);
    process.send?.(id);
  }
  count += 1;
}
process.disconnect?.();
