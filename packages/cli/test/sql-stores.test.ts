// The stores in MySQL and SQLite, by their addresses.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { freePort } from '@service-auth/test-tools/servers/server';
import { afterAll, describe, expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

const mariadb = await orSkip(() => startMariadb());
afterAll(() => mariadb?.stop());
// The driver is looked for from the working directory, and this package has it.
const cwd = fileURLToPath(new URL('..', import.meta.url));

describe.runIf(mariadb)('an address of MySQL', () => {
  const url = mariadb?.url ?? '';

  test('is a store whose table a command that writes creates', manyProcesses, async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `${url}?table=of_tests`);
    expect(await run(['usage'], { env, cwd })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('no program has used it yet'),
    });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(service.counts.issued).toBe(1);
    const { code, stdout } = await run(['doctor'], { env, cwd });
    expect(stdout).toContain('of two writers at once, one wins');
    expect(stdout).toContain('this server takes writes');
    expect(code).toBe(0);
  });

  test.each([
    ['has no such database', () => url.replace(/test$/, 'nowhere')],
    ['did not accept the user and password', () => url.replace('test@', 'nobody@')],
    ['offers no TLS', () => `${url}?ssl-mode=REQUIRED`],
    ['is 127.0.0.1:', async () => `mysql://127.0.0.1:${await freePort()}/test`],
  ])('tells that the server %s', async (advice, address) => {
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: variablesOf(service, await address()), cwd });
    expect(outcome).toMatchObject({ code: 69, stderr: expect.stringContaining(advice) });
  });
});

test.each([
  ['mysql://127.0.0.1/test', 'Run: npm install mysql2'],
  ['mysql://127.0.0.1/test?sslmode=x', 'has an unknown parameter sslmode'],
  ['mysql://127.0.0.1/test?ssl-ca=/nowhere', 'names a file that cannot be read: /nowhere'],
  ['sqlite:', 'must name a file'],
  ['sqlite:a.db?table=a;b', 'has no valid name of a table'],
  ['sqlite:a.db?prefix=a', 'has an unknown parameter prefix'],
  ['sqlite:missing/a.db', 'names a file that cannot be opened'],
])('the address %s is refused', async (address, problem) => {
  const service = await startCanaryService();
  const outcome = await run(['token'], { env: variablesOf(service, address), cwd: emptyFolder() });
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
});

test('an address of SQLite is a file that a command that writes creates', manyProcesses, async () => {
  const service = await startCanaryService();
  const file = join(emptyFolder(), 'tokens.db');
  const env = variablesOf(service, `sqlite:${file}?table=of_tests`);
  expect(await run(['usage'], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('does not exist') });
  expect(existsSync(file)).toBe(false);
  expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(service.counts.issued).toBe(1);
  const { code, stdout } = await run(['doctor'], { env });
  expect(stdout).toContain('of two writers at once, one wins');
  expect(code).toBe(0);
});
