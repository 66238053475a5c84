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
    // The laws take longest, so they are tried last.
    return (
      (await fails(copy, 'codec', 'count', 'decide', 'forecast', 'pace', 'repair')) ??
      (await fails(copy, 'laws')) ??
      false
    );
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** True: a test of these files failed. Undefined: none did. */
async function fails(copy: string, ...files: string[]): Promise<true | undefined> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, LAWS: process.env['LAWS'] ?? '400' };
  try {
    await promisify(execFile)(process.execPath, [vitest, 'run', '--root', copy, ...files], { env });
    return undefined;
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string };
    // A copy that cannot even be run catches nothing.
    if (/Tests .*failed/.test(stdout)) return true;
    throw error;
  }
}

const [part = ''] = process.argv.slice(2);
for (const mutant of mutants.filter(({ about }) => about.includes(part))) {
  const caught = await isCaught(mutant);
  console.log(caught ? 'caught    ' : 'NOT CAUGHT', mutant.about);
  if (!caught) process.exitCode = 1;
}
