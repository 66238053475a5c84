// What somebody meets who adopts Service Auth: the code that he writes, with the packed packages, as processes of their own.
// `http-clients` and `nestjs` try every version that the adapters serve, and `examples` the lines for older ones.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@service-auth/test-tools/packages/packages';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort, type TestServer, until } from '@service-auth/test-tools/servers/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService as service } from '../../support/fixtures/service.ts';
import { command, programs, run, start } from '../adopter.ts';
import { run as runTool, write } from '../consumer.ts';

async function redis(): Promise<TestServer> {
  const server = await startRedis({ appendonly: 'yes' });
  onTestFinished(() => server.stop());
  return server;
}

describe('the environment', () => {
  test('with the address of a store is refused with the line to write, and that line shares the token with the command line', async () => {
    const [{ env, issuances }, { url }] = [await service(), await redis()];
    const variables = { ...env, SERVICE_AUTH_STORE: url };
    const create = `import { createServiceAuthFromEnv } from '@service-auth/core';`;
    const refused = await run('store.mjs', `${create}\ncreateServiceAuthFromEnv(process.env);`, variables);
    expect(refused.code).toBe(1);
    const [, line, call] = /write (import .*?;) (createServiceAuthFromEnv\(.*?\}\))/.exec(refused.stderr) ?? [];
    const program = `${create}
      import { createClient } from 'redis';
      ${line}
      const client = createClient({ url: process.env.SERVICE_AUTH_STORE });
      await client.connect();
      const auth = ${call};
      await auth.getToken();
      await auth.close();
      client.destroy();`;
    const all = await Promise.all(Array.from({ length: 4 }, () => run('stored.mjs', program, variables)));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(Array.from({ length: 4 }, () => [0, '']));
    expect(issuances).toHaveLength(1);
    const { stdout } = await command(['usage', '--json'], variables);
    expect(JSON.parse(stdout)).toMatchObject({ used: 1, tokens: [{}] });
  });

  test('with the file of a secret has the file read for every token request', async () => {
    const { env, setClientSecret, issuances } = await service();
    mkdirSync(programs, { recursive: true });
    const file = join(programs, 'client-secret');
    const { SERVICE_AUTH_CLIENT_SECRET: secret = '', ...others } = env;
    writeFileSync(file, `${secret}\n`);
    const program = `import { once } from 'node:events';
      import { createServiceAuthFromEnv } from '@service-auth/core';
      const auth = createServiceAuthFromEnv(process.env);
      await auth.getToken();
      console.log('first');
      await once(process.stdin, 'data');
      await auth.reset();
      await auth.getToken();
      process.exit();`;
    const running = start('rotated.mjs', program, { ...others, SERVICE_AUTH_CLIENT_SECRET_FILE: file });
    await running.until('first');
    setClientSecret('the new secret of the client');
    writeFileSync(file, 'the new secret of the client\n');
    running.tell('go on');
    expect(await running.outcome).toMatchObject({ code: 0, stderr: '' });
    expect(issuances).toHaveLength(2);
  });

  test('with a misspelt name warns, and names the one that was meant', async () => {
    const { env } = await service();
    const misspelt = { ...env, SERVICE_AUTH_BASE_URL: 'https://api.example.com', SERVICE_AUTH_TOKENLIMIT: '50' };
    const program = `require('@service-auth/core').createServiceAuthFromEnv(process.env).getToken();`;
    const warnings = [
      'SERVICE_AUTH_BASE_URL. Did you mean SERVICE_BASE_URL?',
      'SERVICE_AUTH_TOKENLIMIT. Did you mean SERVICE_AUTH_TOKEN_LIMIT?',
    ];
    const store = ['--store', `file:${join(programs, 'misspelt')}`];
    for (const { code, stderr } of [
      await run('misspelt.cjs', program, misspelt),
      await command(['token', ...store], misspelt),
    ]) {
      expect(code).toBe(0);
      for (const warning of warnings) expect(stderr).toContain(warning);
    }
  });
});

describe('half a migration', () => {
  test('of any HTTP client is a warning, an event, and where the client has errors their cause', async () => {
    const { env, issuances } = await service();
    const program = `
      import { attachServiceAuth } from '@service-auth/axios';
      import { createServiceAuthFromEnv } from '@service-auth/core';
      import { createAuthFetch } from '@service-auth/fetch';
      import { serviceAuth } from '@service-auth/got';
      import { serviceAuthInterceptor } from '@service-auth/undici';
      import axios from 'axios';
      import got from 'got';
      import { Agent, request } from 'undici';
      const url = process.env.SERVICE_BASE_URL + '/api/v1/orders';
      const authorization = 'Bearer the token of an interceptor that was left in';
      const clients = {
        axios(auth) {
          const api = axios.create();
          api.interceptors.request.use((config) => {
            config.headers.Authorization = authorization;
            return config;
          });
          attachServiceAuth(api, auth);
          return () => api.get(url);
        },
        'axios defaults'(auth) {
          const api = axios.create({ headers: { Authorization: authorization } });
          attachServiceAuth(api, auth);
          return () => api.get(url);
        },
        got(auth) {
          const client = got.extend(serviceAuth(auth), { headers: { authorization } });
          return () => client(url);
        },
        fetch(auth) {
          const authFetch = createAuthFetch(auth);
          return () => authFetch(url, { headers: { authorization } });
        },
        undici(auth) {
          const dispatcher = new Agent().compose(serviceAuthInterceptor(auth));
          return () => request(url, { headers: { authorization }, dispatcher });
        },
      };
      const results = [];
      for (const [name, connect] of Object.entries(clients)) {
        const events = [];
        const send = connect(createServiceAuthFromEnv(process.env, { onEvent: ({ type }) => events.push(type) }));
        const causes = [];
        for (let count = 0; count < 2; count++) await send().catch((error) => causes.push(error.cause.message));
        results.push({ name, events, causes });
      }
      console.log(JSON.stringify(results));
      process.exit();`;
    const { stdout, stderr } = await run('half.mjs', program, env);
    const cause = expect.stringContaining('had an Authorization of its own');
    const hasErrors = (name: string) => !['fetch', 'undici'].includes(name);
    expect(JSON.parse(stdout)).toEqual(
      ['axios', 'axios defaults', 'got', 'fetch', 'undici'].map((name) => ({
        name,
        events: ['token_bypassed'],
        causes: hasErrors(name) ? [cause, cause] : [],
      })),
    );
    expect(stderr.match(/ServiceAuthWarning: /g)).toHaveLength(5);
    expect(issuances).toEqual([]);
  });

  test('of a header fails where it is written, and a log of the token does no harm', async () => {
    const { env, apiRequests, findSecrets } = await service();
    const program = `
      import { createServiceAuthFromEnv } from '@service-auth/core';
      const token = await createServiceAuthFromEnv(process.env).getToken();
      console.log('%s', token, String(token), token);
      await fetch(process.env.SERVICE_BASE_URL + '/api/v1/', { headers: { authorization: \`Bearer \${token}\` } });`;
    const { code, stdout, stderr } = await run('template.mjs', program, env);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('use token.authorization');
    expect(findSecrets(stdout + stderr)).toEqual([]);
    expect(apiRequests).toEqual([]);
  });
});

test('tokens that the API rejects again are no matter of the limit, and the log of Nest says so', async () => {
  const { env } = await service();
  const program = `
    const { Module } = require('@nestjs/common');
    const { NestFactory } = require('@nestjs/core');
    const { optionsFromEnv } = require('@service-auth/core');
    const { ServiceAuth, ServiceAuthModule } = require('@service-auth/nestjs');
    require('reflect-metadata');
    class AppModule {}
    const onEvent = ({ type }) => console.log('event ' + type);
    Module({ imports: [ServiceAuthModule.forRoot({ ...optionsFromEnv(process.env), onEvent })] })(AppModule);
    NestFactory.createApplicationContext(AppModule).then(async (app) => {
      const auth = app.get(ServiceAuth);
      for (let count = 0; count < 3; count++) await auth.invalidate(await auth.getToken());
      await auth.getToken();
      await auth.reset({ reason: 'it leaked' });
      await app.close();
    });`;
  const { code, stdout, stderr } = await run('rejected.cjs', program, { ...env, NO_COLOR: '1' });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toMatch(/issuance_refused|ERROR|\b0 tokens/);
  expect(stdout).toMatch(/WARN \[ServiceAuth\] The API rejected token \S+ \(kept\)/);
  expect(stdout).toMatch(/WARN \[ServiceAuth\] Token \S+ was reset \("it leaked"\)/);
});

test('the program of the page about production, four times over one Redis, ends on SIGTERM', async () => {
  const [{ env, issuances, until: seen }, { url }] = [await service(), await redis()];
  const page = readFileSync(join(root, 'docs/production.md'), 'utf8');
  const [, block = ''] = /^```ts no-check: your application[^\n]*\n(.*?)^```/ms.exec(page) ?? [];
  write(programs, 'package.json', '{ "type": "module" }');
  write(
    programs,
    'app.js',
    `import { attachServiceAuth } from '@service-auth/axios';
     import axios from 'axios';
     import express from 'express';
     export function createApp(auth) {
       const api = axios.create({ baseURL: process.env.SERVICE_BASE_URL });
       attachServiceAuth(api, auth);
       return express().get('/orders', async (_, response) => response.json((await api.get('/api/v1/orders')).data));
     }`,
  );
  const ports = await Promise.all(Array.from({ length: 4 }, freePort));
  const replicas = ports.map((port) => start('server.mjs', block, { ...env, REDIS_URL: url, PORT: `${port}` }));
  const ask = async (port: number) =>
    fetch(`http://127.0.0.1:${port}/orders`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      () => 0,
    );
  const answers = (port: number) => until('a replica answers', async () => (await ask(port)) === 200, 200_000);
  const ended = replicas.map(({ outcome }) => outcome.then((end) => Promise.reject(new Error(JSON.stringify(end)))));
  await Promise.all(ports.map((port, index) => Promise.race([answers(port), ended[index]])));
  await seen(({ apiRequests }) => apiRequests >= 4);
  for (const replica of replicas) replica.kill('SIGTERM');
  for (const { outcome } of replicas) expect(await outcome).toMatchObject({ code: 0, stderr: '' });
  expect(issuances).toHaveLength(1);
});

test('Redis that is down at the start is an error that names it, at once for the second call, until it is back', async () => {
  const [{ env }, server] = [await service(), await redis()];
  await server.kill();
  const program = `
    import { once } from 'node:events';
    import { createServiceAuthFromEnv } from '@service-auth/core';
    import { redisStore } from '@service-auth/redis';
    import { createClient } from 'redis';
    const client = createClient({ url: process.env.REDIS_URL });
    client.on('error', () => {});
    client.connect().catch(() => {});
    const auth = createServiceAuthFromEnv(process.env, { store: redisStore(client) });
    for (let count = 0; count < 2; count++) {
      const begunAt = performance.now();
      await auth.getToken().catch(({ code, message }) => console.log(JSON.stringify({ code, message, ms: performance.now() - begunAt })));
    }
    console.log('refused');
    await once(process.stdin, 'data');
    while (!client.isReady) await once(client, 'ready');
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // retryAt of the error
    await auth.getToken();
    process.exit();`;
  const running = start('down.mjs', program, { ...env, REDIS_URL: server.url });
  await running.until('refused');
  await server.restart();
  running.tell('it is back');
  const { code, stdout } = await running.outcome;
  expect(code).toBe(0);
  const [first, second] = stdout
    .split('\n')
    .slice(0, 2)
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    code: 'ERR_STORE',
    message: expect.stringMatching(/ECONNREFUSED.*The store is Redis.* at \d{4}-/),
  });
  expect(second).toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('ECONNREFUSED') });
  expect(second.ms).toBeLessThan(first.ms / 4);
});

test('a limit without windows is an error of the compiler', async () => {
  const code = `import { createServiceAuth } from '@service-auth/core';
    export const auth = createServiceAuth({ authUrl: '', audience: '', clientId: '', clientSecret: '', issuanceLimit: { tokens: 1, windows: [] } });`;
  write(join(programs, 'types'), 'windows.ts', code);
  const tsc = join(root, 'node_modules/.bin/tsc');
  const argv = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', 'windows.ts'];
  await expect(runTool(join(programs, 'types'), tsc, argv)).rejects.toThrow(/windows/);
});
