import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, run, start } from './support/program.ts';

test('the mock prints what to export, and its lines serve as a file for --env-file', async () => {
  const running = start(['mock']);
  await running.untilPrinted('SERVICE_AUTH_CLIENT_SECRET=');
  const folder = emptyFolder();
  const envFile = join(folder, 'mock.env');
  writeFileSync(envFile, running.printed.stdout);
  const token = await run(['token', '--env-file', envFile, '--store', `file:${join(folder, 'store')}`]);
  expect(token).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ey/) });
  running.kill('SIGTERM');
  expect((await running.outcome).code).toBe(143);
});

test('a port that is no port, or that is in use, is told', async () => {
  expect(await run(['mock', '--port', '70000'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--port must be'),
  });
  const running = start(['mock']);
  await running.untilPrinted('SERVICE_AUTH_CLIENT_SECRET=');
  const port = /:(\d+)/.exec(running.printed.stdout)?.[1] ?? '';
  const second = await run(['mock', '--port', port]);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') });
});
