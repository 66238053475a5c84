import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('../test-summary.ts', import.meta.url));

/** Runs two packages with a test each, of which the configuration finds only what is `included`. */
function run(included: string, ...filters: string[]): { status: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'service-auth-summary-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = {
    'packages/found/test/a.test.ts': "test('passes', () => {});",
    'packages/lost/test/b.test.ts': "test('passes', () => {});",
    'vitest.config.ts': `export default { test: { globals: true, include: ['${included}'], reporters: ['${reporter}'] } };`,
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', ...filters], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, lines: stdout.split('\n').map((line) => line.replace(/ +/g, ' ')) };
}

test('a whole run is counted by folder, and fails if one of them ran no test', { timeout: 60_000 }, () => {
  const complete = run('packages/*/test/*.test.ts');
  expect(complete.lines).toEqual(expect.arrayContaining(['packages/found 1', 'packages/lost 1', '2 passed, 0 failed']));
  expect(complete.status).toBe(0);

  const incomplete = run('packages/found/test/*.test.ts');
  expect(incomplete.lines).toEqual(expect.arrayContaining(['packages/lost ran no test', '1 passed, 1 failed']));
  expect(incomplete.status).toBe(1);
});

test('a run of some files only does not fail for the others', { timeout: 60_000 }, () => {
  const { status, lines } = run('packages/*/test/*.test.ts', 'packages/found');
  expect([status, lines.filter((line) => line.includes('passed'))]).toEqual([0, ['1 passed, 0 failed']]);
});
