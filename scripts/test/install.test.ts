import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const advice = 'Agent skills awaiting approval: some-package.';

/** Runs the script in an empty clone, with a pnpm that ends with this status. */
function installWith(status: number): { stdout: string; stderr: string; status: number | null } {
  const clone = mkdtempSync(join(tmpdir(), 'install-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  mkdirSync(join(clone, 'scripts'));
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(clone, 'node_modules/.bin/node'), '');
  const script = join(clone, 'scripts/install.mjs');
  copyFileSync(fileURLToPath(new URL('../install.mjs', import.meta.url)), script);
  const pnpm = join(clone, 'pnpm');
  writeFileSync(pnpm, `#!/bin/sh\necho 'Progress: resolved 3, done'\necho '${advice}'\nexit ${status}\n`);
  chmodSync(pnpm, 0o755);
  const env = { PATH: process.env['PATH'], npm_execpath: pnpm };
  return spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
}

test('the first installation shows its progress, and none of the advice of pnpm', () => {
  expect(installWith(0)).toMatchObject({
    status: 0,
    stderr: '',
    stdout: 'Installing the dependencies, once. This takes a few minutes.\nProgress: resolved 3, done\n',
  });
});

test('an installation that fails shows everything that pnpm printed', () => {
  const { status, stderr } = installWith(1);
  expect(status).toBe(1);
  expect(stderr).toContain(advice);
  expect(stderr).toContain('The dependencies could not be installed');
});
