import { execFileSync } from 'node:child_process';
import { root } from '@service-auth/test-tools/packages/packages';
import { expect, test } from 'vitest';

test('the files in how-it-works.md are those that a cold getToken() and a 401 run through', () => {
  const trace = ['--conditions=@service-auth/source', 'bench/trace.ts', '--check'];
  expect(() => execFileSync(process.execPath, trace, { cwd: root, stdio: 'pipe', env: {} })).not.toThrow();
});
