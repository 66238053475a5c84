import { join } from 'node:path';
import { createServiceAuth } from '@service-auth/core';
import { fileStore } from '@service-auth/file';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run } from './support/program.ts';
import { startCanaryService, stores, variablesOf } from './support/world.ts';

const audience = 'https://api.example/';

test.for(stores)(
  'reset ends the token in $name, tells who did it and why, and the next program gets another one',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = { ...variablesOf(service, address()), SERVICE_AUTH_INSTANCE: 'ops' };
    const { stdout: before } = await run(['token'], { env });
    const done = await run(['reset', '--audience', audience, '--reason', 'in a log', '--yes'], { env });
    expect(done).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^Token \S+ of https:\/\/api\.example\/ was reset\. .* Another one can be issued now\.\n$/,
      ),
    });
    const { resets, tokens } = JSON.parse((await run(['usage', '--json'], { env })).stdout);
    expect(resets).toMatchObject([
      { audience, instance: 'ops', reason: 'in a log', tokenId: /Token (\S+)/.exec(done.stdout)?.[1] },
    ]);
    expect(tokens).toEqual([]);
    const { stdout: after, code } = await run(['token'], { env });
    expect(code).toBe(0);
    expect(after).not.toBe(before);
    expect(service.counts.issued).toBe(2);
  },
);

test('reset ends the tokens of all secrets, and says how many they were', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
  const other = { ...env, SERVICE_AUTH_STORE_KEY: 'a key that other programs do not have' };
  await run(['token'], { env });
  await run(['token'], { env: other });
  const { stdout, code } = await run(['reset', '--yes'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^All 2 tokens of https:\S+ were reset, \S+ and 1 of other secrets\./);
  expect(JSON.parse((await run(['usage', '--json'], { env })).stdout).tokens).toEqual([]);
});

test('a mistyped audience is told those that there are, with 1, and nothing is written', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
  const none = await run(['reset', '--yes'], { env });
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('The record has none') });
  await run(['token'], { env });
  const { stdout: before } = await run(['record', 'export'], { env });
  const mistyped = await run(['reset', '--audience', 'https://api.exmaple/', '--yes'], { env });
  expect(mistyped).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`The record has: ${audience}`),
  });
  expect((await run(['record', 'export'], { env })).stdout).toBe(before);
});

test('reset and retry ask, and without a terminal they want --yes', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
  await run(['token'], { env });
  const reset = await run(['reset', '--audience', audience], { env });
  expect(reset).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') });
  expect(reset.stderr).toContain(`This ends the token of ${audience} for all programs`);
  expect((await run(['token'], { env })).code).toBe(0);
  expect(service.counts.issued).toBe(1);
});

test.for(stores)(
  'retry ends a hold in $name: the next program is let through at once',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = variablesOf(service, address());
    expect(await run(['retry', '--yes'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing is on hold'),
    });
    service.tokenEndpoint.next({ status: 401 });
    expect((await run(['token'], { env })).code).toBe(4);
    // The same secret is not tried again yet.
    expect((await run(['token'], { env })).code).toBe(4);
    expect(service.counts.tokenRequests).toBe(1);

    const asked = await run(['retry'], { env });
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('rejected the credentials') });
    const done = await run(['retry', '--yes'], { env });
    expect(done).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Ended:\n- The token endpoint rejected the credentials/),
    });
    expect((await run(['token'], { env })).code).toBe(0);
  },
);

test('holds are told by usage, explain and check', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
  // The first back-off after a 503 lasts for a second only, so it is one after a 404, which lasts for minutes.
  service.tokenEndpoint.next({ status: 404 });
  expect((await run(['token'], { env })).code).toBe(1);
  expect((await run(['usage'], { env })).stdout).toMatch(/^On hold +The token endpoint answered 404\./m);
  const { stdout } = await run(['explain'], { env });
  expect(stdout).toMatch(/^outage$/m);
  expect(stdout).toContain('docs/runbook.md#outage');
  expect(await run(['check'], { env })).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(
      /^CRITICAL - .*programs for https:\S+ are refused until .*: the token endpoint failed \(404\)/,
    ),
  });
});

test('a command that states no limit leaves the fleet the one that it agreed on', manyProcesses, async () => {
  const service = await startCanaryService();
  const directory = join(emptyFolder(), 'store');
  const issuanceLimit = { tokens: 1_000 };
  const fleet = createServiceAuth({ ...service.options, store: fileStore(directory), issuanceLimit });
  await fleet.getToken();
  await fleet.close();
  const env = variablesOf(service, `file:${directory}`);
  for (const args of [['token'], ['reset', '--yes'], ['retry', '--yes'], ['token']]) {
    expect(await run(args, { env })).toMatchObject({ code: 0, stderr: '' });
  }
  const { windows } = JSON.parse((await run(['usage', '--json'], { env })).stdout);
  expect(windows).toMatchObject([{ tokens: 1_000, used: 2 }]);
  expect((await run(['token', '--token-limit', '40'], { env })).code).toBe(0);
});
