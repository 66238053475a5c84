import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engine, installEngines, nodes } from '@service-auth/runtimes/engines';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { storeContract } from '@service-auth/testing';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(folder, 'program.mjs');

const bun = engine(`@oven/bun-linux-${arch() === 'x64' ? 'x64' : 'aarch64'}/bin/bun`);
const deno = engine(`@deno/linux-${arch()}-glibc/deno`);
/** The older Node prints a warning that node:sqlite is experimental. */
const places = [
  ['Bun', 'bun:sqlite', bun, []],
  ['Bun', 'node:sqlite', bun, []],
  ['Deno', 'node:sqlite', deno, ['run', '--allow-all']],
  // Node 20 has no SQLite. The other tests run on this one.
  ...nodes
    .filter(({ major, file }) => major > 20 && file !== process.execPath)
    .map(({ major, file }) => [`Node ${major}`, 'node:sqlite', file, []] as const),
] as const;

async function prepare(): Promise<true> {
  await installEngines();
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('program.ts', import.meta.url))],
    ...{ bundle: true, format: 'esm', platform: 'node', write: false, conditions: ['@service-auth/source'] },
  });
  writeFileSync(program, outputFiles[0]?.text ?? '');
  return true;
}

// Here are the names of the cases only: they run in the other runtime.
const cases = storeContract(() => Promise.reject(new Error('the store is in the other runtime')));
const passed = cases.map(({ name }) => ({ name, problem: null }));
/** Ends a runtime that hangs, before the time of its test is over. */
const limits = { timeout: 100_000, killSignal: 'SIGKILL' } as const;

const ready = await orSkip(prepare);

describe.runIf(ready)('the contract of stores', () => {
  test.each(places)(
    'passes in %s with %s',
    async (_, driver, runtime, argv) => {
      const file = join(mkdtempSync(join(folder, 'place-')), 'database');
      const { stdout } = await promisify(execFile)(runtime, [...argv, program, driver, file], limits);
      expect(JSON.parse(stdout)).toEqual(passed);
    },
    120_000,
  );
});
