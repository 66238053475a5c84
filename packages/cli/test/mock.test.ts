import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, run, start } from './support/program.ts';

async function mock(args: readonly string[]) {
  const running = start(['mock', ...args]);
  await running.untilPrinted('SERVICE_AUTH_CLIENT_SECRET=');
  const folder = emptyFolder();
  const envFile = join(folder, 'mock.env');
  writeFileSync(envFile, running.printed.stdout);
  const rest = ['--env-file', envFile, '--store', `file:${join(folder, 'store')}`];
  return { running, run: (...words: string[]) => run([...words, ...rest]), envFile };
}

test('the mock prints what to export, and its lines serve as a file for --env-file', async () => {
  const { running, run } = await mock(['--limit', '7', '--token-lifetime', '90s']);
  expect(running.printed.stdout).toContain('export SERVICE_AUTH_TOKEN_LIMIT=7\n');
  const { code, stdout } = await run('token', '--format', 'json');
  expect(code).toBe(0);
  const leftMs = Date.parse(JSON.parse(stdout).expiresAt) - Date.now();
  expect(leftMs).toBeGreaterThan(60_000);
  expect(leftMs).toBeLessThanOrEqual(90_000);
  await running.untilPrinted('POST /oauth/token issued (1 issued)\n');
  running.kill('SIGTERM');
  expect((await running.outcome).code).toBe(143);
});

test('scripted answers come in order, and the one with an asterisk stands', async () => {
  const { running, run } = await mock(['--token-answers', '401,200', '--api-answers', '503,404*']);
  expect((await run('token')).code).toBe(4);
  await running.untilPrinted('scripted');
  const status = async () => {
    const url = /SERVICE_BASE_URL=(.*)/.exec(running.printed.stdout)?.[1];
    return (await fetch(`${url}/api/v1/x`)).status;
  };
  expect([await status(), await status(), await status()]).toEqual([503, 404, 404]);
});

test('all wrong options of the mock are told together, and a port that is in use too', async () => {
  const wrong = [
    '--port',
    '70000',
    '--limit',
    '0',
    '--token-lifetime',
    '1500ms',
    '--token-answers',
    '401*,200',
    '--api-answers',
    'x',
  ];
  const { code, stderr } = await run(['mock', ...wrong]);
  expect(code).toBe(2);
  for (const option of wrong.filter((word) => word.startsWith('--'))) expect(stderr).toContain(`${option} must be`);

  const { running } = await mock([]);
  const port = /:(\d+)/.exec(running.printed.stdout)?.[1] ?? '';
  const second = await run(['mock', '--port', port]);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') });
});
