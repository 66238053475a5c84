import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../end-with-this-process.ts';

const vitest = fileURLToPath(new URL('../../../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('../test-summary.ts', import.meta.url));

/** Runs two packages with a test each. The second one is written as `second`. */
function run(second: string, ...filters: string[]): { status: number | null; lines: string[] } {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-summary-'));
  const files = {
    'packages/one/test/a.test.ts': "test('passes', () => {});",
    'packages/other/test/b.test.ts': second,
    'vitest.config.ts': `export default { test: { globals: true, include: ['packages/*/test/*.test.ts'], reporters: ['${reporter}'] } };`,
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', ...filters], {
    cwd: folder,
    env: { ...process.env, CI: 'true' },
    encoding: 'utf8',
  });
  return { status, lines: stdout.split('\n').map((line) => line.replace(/ +/g, ' ')) };
}

test('a whole run is counted by folder, and fails if one of them ran no test', { timeout: 60_000 }, () => {
  const complete = run("test('passes', () => {});");
  expect(complete.lines).toEqual(expect.arrayContaining(['packages/one 1', 'packages/other 1', '2 passed, 0 failed']));
  expect(complete.status).toBe(0);

  const incomplete = run("test('needs a server', ({ skip }) => skip('no server'));");
  expect(incomplete.lines).toEqual(
    expect.arrayContaining(['packages/other ran no test', '1 passed, 1 failed', 'warning: 1 skipped: no server']),
  );
  expect(incomplete.status).toBe(1);
});

test('what failed is named by its file at the end, also a file that broke before its tests', {
  timeout: 60_000,
}, () => {
  const failing = run("describe('orders', () => { test('arrive', () => expect(1).toBe(2)); });");
  expect(failing.lines).toEqual(
    expect.arrayContaining(['✗ packages/other/test/b.test.ts > orders > arrive', '1 passed, 1 failed']),
  );
  const broken = run("throw new Error('broken');");
  expect(broken.lines).toContain('✗ packages/other/test/b.test.ts');
  expect([failing.status, broken.status]).toEqual([1, 1]);
});

test('a run of some files only does not fail for the others', { timeout: 60_000 }, () => {
  const { status, lines } = run("test('needs a server', ({ skip }) => skip('no server'));", 'packages');
  expect([status, lines.filter((line) => line.includes('passed'))]).toEqual([0, ['1 passed, 0 failed']]);
});

test('a filter that fits no file is answered with what fits', () => {
  const argv = [fileURLToPath(new URL('../../../../scripts/test.ts', import.meta.url)), 'has-no-such'];
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('No path of a test file contains has-no-such.')]);
  expect(stderr).toContain('such as: axios, tests/protocol, reset');
});
