/**
 * node tests/journal/mutants.ts            looks for a test that catches each mutant, and fails if there is none
 * node tests/journal/mutants.ts clock      ... of those with such a word
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Mutant, mutants } from './mutants/mutants.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = join(folder, '../..');
const config = `export default { test: { testTimeout: 120_000, bail: 1, include: ['test/*.test.ts'], maxWorkers: 1, isolate: false } };`;

/** Returns whether a test fails with the mutant in place of the source. */
async function isCaught({ file, find, replace }: Mutant): Promise<boolean> {
  // A copy inside the repository finds what is installed there.
  const copy = mkdtempSync(join(root, 'node_modules/.cache/journal-'));
  try {
    for (const part of ['src', 'test', 'worlds', 'mutants'])
      cpSync(join(folder, part), join(copy, part), { recursive: true });
    const path = join(copy, 'src', file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(find, () => replace),
    );
    writeFileSync(join(copy, 'vitest.config.ts'), config);
    const run = promisify(execFile)(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', copy],
      {
        env: { ...process.env, LAWS: process.env['LAWS'] ?? '400' },
      },
    );
    return await run.then(
      () => false,
      (error: { stdout?: string }) => /Tests .*failed|AssertionError|Property failed/.test(error.stdout ?? ''),
    );
  } finally {
    rmSync(copy, { recursive: true });
  }
}

const [part = ''] = process.argv.slice(2);
for (const mutant of mutants.filter(({ about }) => about.includes(part))) {
  const caught = await isCaught(mutant);
  console.log(caught ? 'caught    ' : 'NOT CAUGHT', mutant.about);
  if (!caught) process.exitCode = 1;
}
