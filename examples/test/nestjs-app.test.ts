import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { tryNestjsApp } from './try-nestjs-app.ts';

const folder = fileURLToPath(new URL('../nestjs-app', import.meta.url));

const run = promisify(execFile);
const tsc = fileURLToPath(new URL('../../node_modules/typescript-7/bin/tsc', import.meta.url));

/** The types are checked against the sources of the packages, but the build does not include them. */
async function compiled(): Promise<string> {
  const outDir = `${folder}/dist`;
  const argv = [tsc, '--project', folder, '--pretty', 'false'];
  const checked = run(process.execPath, [...argv, '--noEmit', '--customConditions', '@service-auth/source']);
  await checked.catch(({ stdout }) => expect.fail(stdout));
  await run(process.execPath, [...argv, '--noCheck', '--noResolve', '--outDir', outDir]);
  onTestFinished(() => rm(outDir, { recursive: true }));
  return `${outDir}/main.js`;
}

test('the application has one token per client, tells its health without one, and answers its last request before it ends', async () => {
  await tryNestjsApp(process.execPath, ['--conditions=@service-auth/source', await compiled()]);
});

test('the application does not start without its variables, and names all that are missing', async () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_)/.test(name));
  const env = { ...Object.fromEntries(inherited), SERVICE_AUTH_URL: 'http://127.0.0.1:9', PORT: '0' };
  const argv = ['--conditions=@service-auth/source', await compiled()];
  const { code, stderr } = await run(process.execPath, argv, { env, timeout: 15_000 }).then(
    () => expect.fail('it started'),
    (error: { code: number; stderr: string }) => error,
  );
  expect(code).toBe(1);
  expect(stderr).toContain(
    'not set: SERVICE_BASE_URL, SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID, SERVICE_AUTH_CLIENT_SECRET, BILLING_CLIENT_ID',
  );
});
