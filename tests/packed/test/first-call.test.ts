// What somebody meets who is called because there are no tokens: the packed command line, over the record that programs have left.
import { join } from 'node:path';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService as service } from '../../support/fixtures/service.ts';
import { command, programs, run, startCommand, told } from '../adopter.ts';

/** Asks for a token for each audience of ASKED, and prints the errors as JSON. */
const asks = (store: string) => `
  import { createServiceAuthFromEnv } from '@service-auth/core';
  ${store}
  const clients = process.env.ASKED.split(' ').map((audience) => createServiceAuthFromEnv(process.env, { audience, store }));
  for (const auth of clients) await auth.getToken().catch(({ code, message, retryAt }) => console.log(JSON.stringify({ code, message, retryAt })));
  process.exit();`;
const redisProgram = asks(`
  import { redisStore } from '@service-auth/redis';
  import { createClient } from 'redis';
  const client = createClient({ url: process.env.SERVICE_AUTH_STORE });
  await client.connect();
  const store = redisStore(client);`);
const fileProgram = asks(`
  import { fileStore } from '@service-auth/file';
  const store = fileStore(process.env.SERVICE_AUTH_STORE.slice(5));`);

const audiences = Array.from({ length: 40 }, (_, index) => `https://api-${index}.example/`) as [string, ...string[]];
const clients = [{ clientId: 'orders', clientSecret: 'the secret of orders', audiences }];
const folder = (name: string) => `file:${join(programs, `${name}-${crypto.randomUUID()}`)}`;

test('a new record says how much it allows until when, and is opened by somebody who knows', async () => {
  const { env, issuances, tokenEndpoint } = await service({ clients });
  const redis = await startRedis({ appendonly: 'yes' });
  onTestFinished(() => redis.stop());
  const variables = { ...env, SERVICE_AUTH_STORE: redis.url };
  const ask = async (...asked: string[]) => {
    const { stdout } = await run('asks-redis.mjs', redisProgram, { ...variables, ASKED: asked.join(' ') });
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  await ask(audiences[0]);
  const reports = [['usage'], ['explain'], ['check', '--warn', '90']];
  const printed = await Promise.all(reports.map(async (argv) => await told(argv, variables)));
  const until27h = String.raw`until \d{4}-\d\d-\d\d \d\d:\d\d \(in 27 h\)`;
  for (const text of printed) {
    expect(text).toMatch(/\b22 tokens/);
    expect(text).toMatch(new RegExp(`allows 23 tokens ${until27h}|50 held back ${until27h} because the record is new`));
    expect(text).not.toMatch(/\b74 |about a day|If tokens go on/);
  }
  expect(printed[0]).toContain('24 left (2 of them for resets of leaked tokens)');

  const [refused, ...others] = await ask(...audiences.slice(1, 25));
  expect(issuances).toHaveLength(23);
  expect(others).toHaveLength(1);
  const until = new Date(refused.retryAt).toISOString();
  expect(refused).toMatchObject({ code: 'ERR_ISSUANCE_LIMIT', message: expect.stringContaining(until) });
  expect(refused.message).toMatch(
    /The record is new, so until \S+ only 23 of 150 tokens may be issued\. .*service-auth record spent N --reason/,
  );
  expect(await told(['explain'], variables)).toMatch(/ new record .*service-auth record spent N/);

  const reason = 'a new client id, nothing asked before';
  const spent = await command(['record', 'spent', '0', '--reason', reason, '--instance', 'anna'], variables);
  expect(spent).toMatchObject({ code: 0, stdout: expect.stringContaining('46 tokens can be issued') });
  expect(await ask(...audiences.slice(23))).toEqual([]);
  expect(issuances).toHaveLength(40);
  for (const argv of [['usage'], ['explain']])
    expect(await told(argv, variables)).toMatch(/anna said at .*a new client id, nothing asked before/);

  tokenEndpoint.always({ status: 429, headers: { 'retry-after': '7200' } });
  const [held] = await ask('https://another.example/');
  expect(held).toMatchObject({
    code: 'ERR_RATE_LIMITED',
    message: expect.stringContaining(new Date(held.retryAt).toISOString()),
  });
  const stdout = await told(['usage'], variables);
  expect(stdout).toMatch(/refused until .*: the token endpoint answered 429/);
  expect(stdout).not.toContain('If tokens go on');
});

test('a wrong secret in one of four is that of the instance which usage, explain and check name, and doctor knows it', async () => {
  const { env } = await service();
  const variables = { ...env, SERVICE_AUTH_STORE: folder('wrong'), ASKED: env['SERVICE_AUTH_AUDIENCE'] ?? '' };
  const wrong = { SERVICE_AUTH_CLIENT_SECRET: 'the secret of the staging client' };
  const ends = [1, 2, 3, 4].map((number) =>
    run('asks-file.mjs', fileProgram, {
      ...variables,
      ...(number === 3 && wrong),
      SERVICE_AUTH_INSTANCE: `replica-${number}`,
    }),
  );
  const printed = (await Promise.all(ends)).map(({ stdout }) => stdout);
  expect(printed.map((text) => text.includes('ERR_CREDENTIALS_REJECTED'))).toEqual([false, false, true, false]);
  for (const argv of [['usage'], ['explain'], ['check']])
    expect(await told(argv, variables)).toMatch(/401, instance replica-3/);
  const doctor = await command(['doctor'], { ...variables, ...wrong });
  expect(doctor).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/failure +record: the token endpoint rejected this client secret .*replica-3/),
  });
  expect(await told(['doctor'], variables)).not.toContain('failure');
});

describe('the command line', () => {
  test('with a store alone says which variables are missing', async () => {
    const { code, stderr } = await command(['explain', '--store', folder('alone')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /SERVICE_AUTH_URL \(--auth-url\) is not set, nor SERVICE_AUTH_TOKEN_ENDPOINT\s+SERVICE_AUTH_CLIENT_ID \(--client-id\) is not set/,
    );
  });

  test('takes a list of audiences, a client and a command that needs one of them ask for it', async () => {
    const { env, issuances, until: seen } = await service({ clients });
    const listed = {
      ...env,
      SERVICE_AUTH_AUDIENCE: audiences.slice(0, 2).join(' '),
      SERVICE_AUTH_STORE: folder('list'),
    };
    const one = 'SERVICE_AUTH_AUDIENCE (--audience) has several audiences, and a token is for one';
    for (const argv of [['token'], ['reset', '--yes']])
      expect(await command(argv, listed)).toMatchObject({ code: 2, stderr: expect.stringContaining(one) });
    const program = `import { createServiceAuthFromEnv } from '@service-auth/core'; createServiceAuthFromEnv(process.env, { store: undefined });`;
    const { stderr } = await run('list.mjs', program, { ...listed, SERVICE_AUTH_STORE: '' });
    expect(stderr).toContain('SERVICE_AUTH_AUDIENCE has several audiences, and a token is for one');

    const server = startCommand(['serve', '--port', '0', '--no-key'], listed);
    await seen(({ issued }) => issued === 2);
    server.kill('SIGTERM');
    expect((await server.outcome).code).toBe(0);
    expect(issuances.map(({ audience }) => audience).sort()).toEqual(audiences.slice(0, 2));
    for (const argv of [['usage'], ['check'], ['explain'], ['retry', '--yes']])
      expect(await command(argv, listed)).toMatchObject({ code: 0, stderr: '' });
    expect(await told(['explain'], listed)).not.toContain('many audiences');
    const doctor = await command(['doctor'], listed);
    expect(doctor.stdout).toContain(`audiences ${audiences[0]} and ${audiences[1]}`);
    expect(await command(['token', '--audience', audiences[1] ?? ''], listed)).toMatchObject({ code: 0, stderr: '' });
    expect(issuances).toHaveLength(2);
  });
});
