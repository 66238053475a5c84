import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileNestjs } from './support/compile-nestjs.ts';
import { tryNestjsApp } from './try-nestjs-app.ts';

const run = promisify(execFile);
test('the application has one token per client, tells its health without one, and answers its last request before it ends', async () => {
  await tryNestjsApp(process.execPath, [
    '--conditions=@service-auth/source',
    `${await compileNestjs('nestjs-app')}/main.js`,
  ]);
});

test('the application does not start without its variables, and names all that are missing', async () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_)/.test(name));
  const env = { ...Object.fromEntries(inherited), SERVICE_AUTH_URL: 'http://127.0.0.1:9', PORT: '0' };
  const argv = ['--conditions=@service-auth/source', `${await compileNestjs('nestjs-app')}/main.js`];
  const { code, stderr } = await run(process.execPath, argv, { env, timeout: 15_000 }).then(
    () => expect.fail('it started'),
    (error: { code: number; stderr: string }) => error,
  );
  expect(code).toBe(1);
  expect(stderr).toContain(
    'not set: SERVICE_BASE_URL, SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID, SERVICE_AUTH_CLIENT_SECRET, BILLING_CLIENT_ID',
  );
});
