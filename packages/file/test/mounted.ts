// Runs in a mount namespace of its own, which disk.test.ts opens: what the store does when its disk is full, and when it is read-only.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileStore } from '../src/index.ts';

const [mountPoint = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0755', 'tmpfs', mountPoint]);
const store = fileStore(join(mountPoint, 'store'));

interface StoreFailure {
  code: string;
  message: string;
}

/** Replaces the record by a large one. */
async function write(record: string): Promise<boolean | StoreFailure> {
  const { version: expected } = await store.load('key');
  const change = { expected, version: crypto.randomUUID(), record: record.padEnd(9_000, '.') };
  return store.swap('key', change).then(
    ({ swapped }) => swapped,
    ({ code, message }: StoreFailure) => ({ code, message }),
  );
}

const kept = async () => (await store.load('key')).record?.replace(/\.+$/, '');

const filler = join(mountPoint, 'filler');
const report = {
  first: await write('first'),
  full: undefined as unknown,
  keptWhenFull: undefined as unknown,
  afterwards: undefined as unknown,
  readOnly: undefined as unknown,
  keptWhenReadOnly: undefined as unknown,
};
try {
  writeFileSync(filler, Buffer.alloc(1_000_000));
} catch {
  // Only as many as there was room for.
}
report.full = await write('second');
report.keptWhenFull = await kept();
rmSync(filler);
report.afterwards = await write('third');
execFileSync('mount', ['-o', 'remount,ro', mountPoint]);
report.readOnly = await write('fourth');
report.keptWhenReadOnly = await kept();
console.log(JSON.stringify(report));
