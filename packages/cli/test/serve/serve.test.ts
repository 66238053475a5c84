import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretCanary, sightings, tokenCanary } from '@service-auth/test-tools/canaries';
import { byDay } from '@service-auth/test-tools/night';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run, start } from '../support/program.ts';
import { observedUrl, send, sendRaw, startServing, untilReady } from '../support/serving.ts';
import { startCanaryService, stores, variablesOf } from '../support/world.ts';

const marked = { 'service-auth': 'true' };
const tokenIn = (body: string): string => JSON.parse(body).access_token;

test.for(byDay(stores, ({ name }) => name === 'file'))(
  'a thousand requests at once cost one token, over $name',
  manyProcesses,
  async ({ address }) => {
    const serving = await startServing({ env: { SERVICE_AUTH_STORE: address() } });
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => serving.token()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => tokenIn(body))).size).toBe(1);
    expect(serving.service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
  },
);

test('the log has instants as people read them', async () => {
  const { running, token } = await startServing();
  await token();
  await running.untilPrinted(/info token_issued .*expiresAt=\d{4}-\d\d-\d\dT[\d:.]+Z .*durationMs=\d+$/m);
});

test('the log warns of what the provider counts only if the record does not know it', async () => {
  for (const [foreign, line] of [
    [0, /^\S+ debug quota_observed .*foreign=0$/m],
    [3, /^\S+ warning quota_observed .*foreign=3$/m],
  ] as const) {
    const service = await startCanaryService({ quota: { foreign } });
    const { running, token } = await startServing({ service });
    await token();
    await running.untilPrinted(line);
  }
});

test('credentials that the token endpoint rejects are an error in the log', async () => {
  const { running, token, service } = await startServing();
  service.tokenEndpoint.next({ status: 401, body: '{"error":"invalid_client"}' });
  await token();
  await running.untilPrinted(/^\S+ error token_request_failed .*code=ERR_CREDENTIALS_REJECTED/m);
});

test('the answer has what is left of the token, and nothing may keep it', async () => {
  const { token } = await startServing();
  const { status, headers, body } = await token();
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  });
  const answer = JSON.parse(body);
  expect(answer).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: expect.any(Number) });
  expect(answer.expires_in).toBeGreaterThan(86_300);
  expect(answer.expires_in).toBeLessThan(86_400);
});

test('the other doors answer as their page says', async () => {
  const { ask, token, url, service } = await startServing();
  const first = tokenIn((await token()).body);
  expect(JSON.parse((await ask('/token', { headers: marked })).body)).toEqual({
    accessToken: first,
    tokenType: 'Bearer',
    expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    audience: service.credentials.audience,
  });
  expect(await ask('/token')).toMatchObject({ status: 412 });
  expect(JSON.parse((await ask('/usage', { headers: marked })).body)).toMatchObject({
    version: 1,
    limit: 150,
    used: 1,
  });
  for (const probe of ['/startup', '/liveness', '/readiness']) expect(await ask(probe)).toMatchObject({ status: 200 });
  expect(await ask('/oauth/revoke', { method: 'POST', body: `token=${first}` })).toMatchObject({
    status: 200,
    body: '',
  });
  expect(tokenIn((await token()).body)).toBe(first);
  expect(JSON.parse((await ask('/.well-known/oauth-authorization-server')).body)).toEqual({
    issuer: url,
    token_endpoint: `${url}/oauth/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint: `${url}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
  });
  expect(await ask('/oauth/token')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  expect(await ask('/oauth/token', { method: 'POST', body: 'x'.repeat(100_000) })).toMatchObject({ status: 413 });
  expect(service.counts.issued).toBe(1);
});

test('a token that the API rejected is replaced once, whoever says so and however often', async () => {
  const { ask, token, service } = await startServing();
  const first = tokenIn((await token()).body);
  const rejected = { method: 'POST', headers: marked, body: JSON.stringify({ token: first }) };
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/rejected', rejected)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  const second = tokenIn((await token()).body);
  expect(second).not.toBe(first);
  await ask('/rejected', rejected);
  // The next one comes too early.
  await ask('/rejected', { ...rejected, body: JSON.stringify({ token: second }) });
  expect(tokenIn((await token()).body)).toBe(second);
  expect(service.counts.issued).toBe(2);
  for (const body of ['', '{}', '{"token":1}', 'null']) {
    expect(await ask('/rejected', { ...rejected, body })).toMatchObject({ status: 400 });
  }
});

test('several audiences have a token each, out of one budget', async () => {
  const serving = await startServing({ env: { SERVICE_AUTH_AUDIENCE: 'https://api.example/ https://other.example/' } });
  const { token, ask, service } = serving;
  const first = tokenIn((await token()).body);
  expect(tokenIn((await token({ audience: 'https://api.example/' })).body)).toBe(first);
  const other = tokenIn((await token({ audience: 'https://other.example/' })).body);
  expect(other).not.toBe(first);
  expect(JSON.parse((await ask('/token?audience=https://other.example/', { headers: marked })).body)).toMatchObject({
    accessToken: other,
    audience: 'https://other.example/',
  });
  expect(await token({ audience: 'https://third.example/' })).toMatchObject({ status: 400 });
  expect(await ask('/token?audience=x', { headers: marked })).toMatchObject({ status: 400 });
  expect(service.counts.issued).toBe(2);
  expect(JSON.parse((await ask('/usage', { headers: marked })).body)).toMatchObject({ used: 2 });
});

test('a budget that is spent is answered 429 with Retry-After, and the token that there is goes on', async () => {
  const audiences = ['https://api.example/', 'https://other.example/'];
  const limit = { SERVICE_AUTH_TOKEN_LIMIT: '1', SERVICE_AUTH_RESERVE: '0' };
  const { token, ask, service } = await startServing({ env: { SERVICE_AUTH_AUDIENCE: audiences.join(' '), ...limit } });
  const answers = await Promise.all(audiences.map((audience) => token({ audience })));
  const [served, refused] = answers.toSorted((a, b) => a.status - b.status);
  expect(served?.status).toBe(200);
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d{4,5}$/) } });
  expect(JSON.parse(refused?.body ?? '')).toMatchObject({ error: 'temporarily_unavailable' });
  expect(await ask('/readiness')).toMatchObject({ status: 503 });
  expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
});

test.for([
  ['an endpoint that answers 429', 429, { status: 429, headers: { 'retry-after': '120' } }],
  ['credentials that the provider rejects', 503, { status: 401 }],
  ['an endpoint that fails', 503, { status: 500 }],
] as const)('%s is answered %i with Retry-After', async ([, status, answer]) => {
  const service = await startCanaryService();
  service.tokenEndpoint.always(answer);
  const { token, ask } = await startServing({ service });
  const answered = await token();
  expect(answered.status).toBe(status);
  expect(Number(answered.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.parse(answered.body)).toEqual({
    error: 'temporarily_unavailable',
    error_description: expect.stringMatching(/\. See https:\S+#err_[a-z_]+$/),
  });
  expect(await ask('/readiness')).toMatchObject({ status: 503 });
  expect(await ask('/token', { headers: marked })).toMatchObject({ status });
});

test(
  'it starts without the store and without the endpoint, says so, and is ready when they are back',
  manyProcesses,
  async () => {
    const { ask, token } = await startServing({ env: { SERVICE_AUTH_STORE: 'redis://127.0.0.1:1' } });
    expect(await ask('/startup')).toMatchObject({ status: 200 });
    expect(await ask('/liveness')).toMatchObject({ status: 200 });
    expect(await token()).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
    expect(await ask('/readiness')).toMatchObject({ status: 503 });
    expect((await ask('/metrics')).body).toContain('\nservice_auth_store_up 0\n');

    const service = await startCanaryService();
    service.tokenEndpoint.always({ status: 503, headers: { 'retry-after': '1' } });
    const away = await startServing({ service });
    expect(await away.ask('/readiness')).toMatchObject({ status: 503 });
    service.tokenEndpoint.clear();
    await untilReady(away.ask);
    expect(await away.token()).toMatchObject({ status: 200 });
  },
);

test('guards hold over the wire', async () => {
  const { ask, url } = await startServing();
  const post = { method: 'POST', headers: { host: 'rebound.example' } };
  expect(await ask('/oauth/token', post)).toMatchObject({ status: 403 });
  expect(await ask('/readiness', { headers: { origin: 'https://page.example' } })).toMatchObject({ status: 403 });
  const host = `Host: ${new URL(url).host}\r\n`;
  const raw = {
    'absolute form': [`GET ${url}/liveness HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    'asterisk form': [`OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    CONNECT: [`CONNECT api.example:443 HTTP/1.1\r\n${host}\r\n`, 501],
    'two Hosts': [`GET /liveness HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`, 400],
    'no Host': ['GET /liveness HTTP/1.0\r\n\r\n', 400],
    'two lengths': [`POST /oauth/token HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    'length and chunked': [
      `POST /oauth/token HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    'a folded header': [`GET /liveness HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`, 400],
    'a space before the colon': [`GET /liveness HTTP/1.1\r\n${host}X : a\r\n\r\n`, 400],
    'a bare line feed': [`GET /liveness HTTP/1.1\n${host}\n\n`, 400],
    'a head that is too large': [`GET /liveness HTTP/1.1\r\n${host}X: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    'an unknown transfer coding': [
      `POST /oauth/token HTTP/1.1\r\n${host}Connection: close\r\nTransfer-Encoding: cow\r\n\r\n`,
      400,
    ],
    'an Origin after two thousand headers': [
      `GET /liveness HTTP/1.1\r\n${host}Connection: close\r\n${'A:\r\n'.repeat(2_500)}Origin: x\r\n\r\n`,
      403,
    ],
  } as const;
  for (const [shape, [bytes, status]] of Object.entries(raw)) {
    const [line] = (await sendRaw(url, bytes)).split('\r\n');
    expect(`${shape}: ${line}`).toMatch(new RegExp(`^${shape}: HTTP/1.1 ${status} `));
  }
});

test('a client that sends its head too slowly loses the connection', manyProcesses, async () => {
  const { url } = await startServing();
  expect(await sendRaw(url, 'GET /liveness HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ')).toMatch(/^HTTP\/1.1 408 /);
});

test(
  'only its user can connect to the socket, and a socket of a killed process is taken over',
  manyProcesses,
  async () => {
    const socketPath = join(emptyFolder(), 'auth.sock');
    const first = await startServing({ args: ['--socket', socketPath] });
    expect(first.url).toBe(`unix:${socketPath}`);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    await untilReady((path) => first.ask(path, { socketPath }));

    const variables = variablesOf(first.service, `file:${emptyFolder()}`);
    const second = await run(['serve', '--socket', socketPath], { env: variables });
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') });

    first.running.kill('SIGKILL');
    await first.running.outcome;
    const third = await startServing({ args: ['--socket', socketPath], service: first.service });
    await untilReady((path) => third.ask(path, { socketPath }));
  },
);

test('--observe shows metrics and probes alone, to any Host', manyProcesses, async () => {
  const { running, ask } = await startServing({ args: ['--observe', '127.0.0.1:0'] });
  const url = await observedUrl(running);
  const observed = (path: string) => send(url, path, { headers: { host: 'pod.example', ...marked } });
  await untilReady(observed);
  const { body, headers } = await observed('/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(body).toMatch(/^service_auth_budget_limit 150$/m);
  expect(body).toMatch(/^service_auth_token_issued_total\{reason="cold"\} 1$/m);
  expect(body).toMatch(/^service_auth_token_expires_in_seconds\{audience="https:\/\/api.example\/"\} 86\d{3}/m);
  expect(body).toMatch(/^service_auth_budget_usage\{state="issued"\} 1$/m);
  for (const path of ['/oauth/token', '/token', '/usage', '/api/v1/x']) expect((await observed(path)).status).toBe(404);
  expect((await ask('/metrics')).body).toContain('service_auth_ready 1\n');
});

const keyFile = (key: string): string => {
  const file = join(emptyFolder(), 'key');
  writeFileSync(file, `${key}\n`);
  return file;
};

const doors = [
  ['/token'],
  ['/usage'],
  ['/rejected', { method: 'POST', body: '{"token":"x"}' }],
  ['/api/v1/x'],
  ['/api/v1/x', { method: 'POST', body: 'x' }],
] as const;

test('a port gives the token to holders of the client secret or of the key, and to nobody else', async () => {
  const { ask, token, service } = await startServing({ isClosed: true });
  for (const [path, asked] of doors) {
    const { status, body } = await ask(path, { ...asked, headers: marked });
    expect([path, status]).toEqual([path, 403]);
    expect(body).toContain('--key-file or --socket');
  }
  expect(await token({ client_secret: 'another' })).toMatchObject({ status: 401 });
  expect(await token()).toMatchObject({ status: 200 });
  expect(service.counts.apiRequests).toBe(0);

  const key = 'a-key-of-this-machine-0123456789abcdef';
  const keyed = await startServing({ args: ['--key-file', keyFile(key)], service });
  for (const [path, asked] of doors) {
    for (const wrong of [undefined, `${key}x`, service.credentials.clientSecret]) {
      const headers = { ...marked, ...(wrong && { 'service-auth-key': wrong }) };
      expect((await keyed.ask(path, { ...asked, headers })).status).toBe(403);
    }
    const { status } = await keyed.ask(path, { ...asked, headers: { ...marked, 'service-auth-key': key } });
    expect([200, 204]).toContain(status);
  }
  expect(await keyed.token({ client_secret: key })).toMatchObject({ status: 401 });
  expect(await keyed.token()).toMatchObject({ status: 200 });
  expect(service.counts.apiRequests).toBe(2);
});

test('with --no-key it says that everybody can have the token; a socket beside a port needs no key', async () => {
  const open = await startServing();
  await open.running.untilPrinted('warning listens without a key: any user of this machine can get the token');
  expect(await open.ask('/token', { headers: marked })).toMatchObject({ status: 200 });
  const socketPath = join(emptyFolder(), 'auth.sock');
  const both = await startServing({ args: ['--socket', socketPath, '--port', '0'], service: open.service });
  expect(await both.ask('/token', { headers: marked })).toMatchObject({ status: 403 });
  expect(await both.ask('/token', { headers: marked, socketPath })).toMatchObject({ status: 200 });
  expect(both.running.printed.stderr).not.toContain('without a key');
});

test('beyond loopback callers present a key in place of the client secret', async () => {
  const key = 'a-key-of-this-machine-0123456789abcdef';
  const file = keyFile(key);
  const { ask, token, running } = await startServing({ args: ['--listen', '127.0.0.1:0', '--key-file', file] });
  await running.untilPrinted('warning listens beyond this machine');
  expect(await token()).toMatchObject({ status: 401 });
  expect(await token({ client_secret: key })).toMatchObject({ status: 200 });
  const headers = { ...marked, host: 'auth.internal' };
  expect(await ask('/token', { headers })).toMatchObject({ status: 403 });
  expect(await ask('/token', { headers: { ...headers, 'service-auth-key': key } })).toMatchObject({ status: 200 });
  writeFileSync(file, `${key}-changed\n`);
  running.kill('SIGHUP');
  await running.untilPrinted('the key was read again');
  expect(await token({ client_secret: key })).toMatchObject({ status: 401 });
  expect(await token({ client_secret: `${key}-changed` })).toMatchObject({ status: 200 });
});

test(
  'wrong options and a wrong configuration end it with 2, a port that is in use with 1, and nothing is spent',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `file:${emptyFolder()}`);
    const wrong = await run(['serve', '--listen', '0.0.0.0:1', '--log', 'xml', '--reserve', 'x'], {
      env: { ...env, SERVICE_AUTH_REJECTED_STATUSES: '200' },
    });
    expect(wrong.code).toBe(2);
    for (const name of ['--key-file', '--log', 'SERVICE_AUTH_RESERVE', 'SERVICE_AUTH_REJECTED_STATUSES'])
      expect(wrong.stderr).toContain(name);
    const serving = await startServing({ service });
    await untilReady(serving.ask);
    const second = await run(['serve', '--port', new URL(serving.url).port], { env });
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') });
    expect(service.counts.issued).toBe(1);
  },
);

test('after SIGTERM open requests are answered, readiness is false, and it ends with 0', async () => {
  const service = await startCanaryService();
  const paused = service.tokenEndpoint.pauseNext();
  const { running, ask } = await startServing({ service, args: ['--observe', '127.0.0.1:0'] });
  const observed = await observedUrl(running);
  const open = ask('/token', { headers: { ...marked, connection: 'keep-alive' } });
  await paused.arrived;
  expect((await send(observed, '/liveness')).status).toBe(200);
  expect((await send(observed, '/metrics')).body).toContain('\nservice_auth_ready 0\n');
  running.kill('SIGTERM');
  await running.untilPrinted(' ends ');
  expect((await send(observed, '/readiness')).status).toBe(503);
  running.kill('SIGHUP');
  await running.untilPrinted('the secret was read again');
  await expect(ask('/liveness')).rejects.toThrow('ECONNREFUSED');
  paused.resume();
  expect(await open).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expect((await running.outcome).code).toBe(0);
});

test(
  'requests that are still open after --grace are ended, and a second signal ends it at once',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    service.tokenEndpoint.pauseNext();
    const { running, token } = await startServing({ service, args: ['--grace', '300ms'] });
    const open = token();
    await service.until(() => service.tokenRequests.length === 1);
    running.kill('SIGTERM');
    await expect(open).rejects.toThrow();
    expect((await running.outcome).code).toBe(0);

    const other = await startCanaryService();
    other.tokenEndpoint.pauseNext();
    const stubborn = await startServing({ service: other });
    void stubborn.token().catch(() => {});
    await other.until(() => other.tokenRequests.length === 1);
    stubborn.running.kill('SIGTERM');
    await stubborn.running.untilPrinted(' ends ');
    stubborn.running.kill('SIGTERM');
    expect((await stubborn.running.outcome).code).toBe(143);
  },
);

test('SIGHUP reads the file of the client secret again, and a file that is gone changes nothing', async () => {
  const service = await startCanaryService();
  const file = join(emptyFolder(), 'secret');
  writeFileSync(file, 'the secret before');
  const env = { SERVICE_AUTH_CLIENT_SECRET: undefined, SERVICE_AUTH_CLIENT_SECRET_FILE: file };
  const { running, token } = await startServing({ service, env });
  expect(await token()).toMatchObject({ status: 401 });
  expect(await token({ client_secret: 'the secret before' })).toMatchObject({ status: 503 });
  writeFileSync(file, `${secretCanary}\n`);
  running.kill('SIGHUP');
  await running.untilPrinted('the secret was read again');
  expect(await token({ client_secret: 'the secret before' })).toMatchObject({ status: 401 });
  expect((await token()).status).not.toBe(401);
  writeFileSync(file, '');
  running.kill('SIGHUP');
  await running.untilPrinted('the one before is kept');
  expect((await token()).status).not.toBe(401);
});

test('no output shows a secret or a token, whatever is asked', async () => {
  const service = await startCanaryService();
  service.tokenEndpoint.always({ fields: { access_token: `${tokenCanary}.x.y` } });
  const { running, token, ask } = await startServing({ service, args: ['--log', 'json'] });
  const { body } = await token();
  expect(tokenIn(body)).toContain(tokenCanary);
  await token({ client_secret: `${secretCanary}x` });
  await token({ scope: tokenCanary });
  await ask(`/${tokenCanary}?secret=${secretCanary}`, {
    headers: { ...marked, authorization: `Bearer ${tokenCanary}` },
  });
  await ask('/rejected', { method: 'POST', headers: marked, body: JSON.stringify({ token: tokenCanary }) });
  const shown = [(await ask('/metrics')).body, (await ask('/usage', { headers: marked })).body];
  running.kill('SIGTERM');
  const { stdout, stderr, code } = await running.outcome;
  expect(code).toBe(0);
  expect(stderr.split('\n').filter((line) => line.includes('"message":"request"')).length).toBe(7);
  expect(
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).level),
  ).not.toContain(undefined);
  for (const text of [stdout, stderr, ...shown]) expect(sightings(text)).toEqual([]);
});

test('Ctrl-C of the other commands is still what ends them', async () => {
  const mock = start(['mock']);
  await mock.untilPrinted('SERVICE_AUTH_CLIENT_SECRET=');
  mock.kill('SIGINT');
  expect((await mock.outcome).code).toBe(130);
});
