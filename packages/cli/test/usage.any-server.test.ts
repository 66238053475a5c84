import { join } from 'node:path';
import { startTestService } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { emptyFolder, run } from './support/program.ts';

test('without a limit usage shows what was spent, whether it is told so or the record tells it', async () => {
  await using service = await startTestService({ clientAuthentication: 'client_secret_basic' });
  const env = { ...service.env, SERVICE_AUTH_STORE: `file:${join(emptyFolder(), 'store')}` };
  const unlimited = { ...env, SERVICE_AUTH_TOKEN_LIMIT: 'unlimited' };
  for (const audience of ['https://a.example/', 'https://b.example/'])
    await run(['token', '--scope', audience], { env: unlimited });
  expect(service.counts.issued).toBe(2);
  for (const environment of [unlimited, env]) {
    const { stdout } = await run(['usage'], { env: environment });
    expect(stdout).toMatch(/^Budget +2 tokens spent in 24 h\. There is no limit\.\n +█ 2 issued$/m);
    expect(stdout).toMatch(/^Now +A caller without a token gets one now\.$/m);
    expect(stdout).not.toMatch(/\b(1000000|9999\d\d)\b|limit of|budget/);
    const { stdout: json } = await run(['usage', '--json'], { env: environment });
    expect(JSON.parse(json)).toMatchObject({ limit: 1_000_000, used: 2 });
    const check = await run(['check'], { env: environment });
    expect([check.code, check.stdout]).toEqual([
      0,
      'OK - 2 tokens spent in 24 h, there is no limit, any number of tokens available now|used=2;;;0 pending=0;;;0\n',
    ]);
    const explained = (await run(['explain'], { env: environment })).stdout;
    expect(explained.replace(/\s+/g, ' ')).toContain('2 tokens spent in 24 h, there is no limit.');
    expect((await run(['doctor'], { env: environment })).stdout).toMatch(
      /record: 2 tokens spent in 24 h, there is no limit$/m,
    );
  }
});

test('a limit that is not enforced refuses nobody, and the reports say what it would have refused', async () => {
  await using service = await startTestService({ clientAuthentication: 'client_secret_basic' });
  const env = { ...service.env, SERVICE_AUTH_STORE: `file:${join(emptyFolder(), 'store')}` };
  const observing = {
    ...env,
    SERVICE_AUTH_TOKEN_LIMIT: '2',
    SERVICE_AUTH_RESERVE: '0',
    SERVICE_AUTH_ENFORCE_LIMIT: 'false',
  };
  for (const audience of ['https://a.example/', 'https://b.example/', 'https://c.example/'])
    await run(['token', '--scope', audience], { env: observing });
  expect(service.counts.issued).toBe(3);
  for (const environment of [observing, env]) {
    const { stdout } = await run(['usage'], { env: environment });
    expect(stdout.replace(/\s+/g, ' ')).toContain('3 of 2 usable tokens spent in 24 h. The limit is not enforced.');
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Now A caller without a token gets one now, because the limit is not enforced\./,
    );
    const { stdout: json } = await run(['usage', '--json'], { env: environment });
    const { enforce, windows, issuances } = JSON.parse(json);
    expect([enforce, windows[0].enforce]).toEqual([false, false]);
    expect(issuances.map(({ overLimit }: { overLimit?: true }) => overLimit)).toEqual([true, undefined, undefined]);
    const check = await run(['check'], { env: environment });
    expect([check.code, check.stdout]).toEqual([2, expect.stringContaining('any number of tokens available now')]);
    const explained = (await run(['explain'], { env: environment })).stdout.replace(/\s+/g, ' ');
    expect(explained).toContain('The limit is not enforced. It would have refused 1 token of 24 h.');
    expect(explained).not.toContain('some of the budget will be left');
  }
});
