import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { secretCanary, sightings } from '@service-auth/test-tools/canaries';
import { startTestService } from '@service-auth/testing';
import { expect, onTestFinished, test } from 'vitest';
import { emptyFolder, run } from './support/program.ts';

interface Line {
  readonly part: string;
  readonly state: string;
  readonly message: string;
  readonly advice?: string;
}

async function doctor(env: Readonly<Record<string, string | undefined>>) {
  const { code, stdout, stderr } = await run(['doctor', '--json'], { env });
  expect(stderr).toBe('');
  expect(sightings(stdout)).toEqual([]);
  const { lines } = JSON.parse(stdout) as { lines: Line[] };
  const endpoint = lines.find(({ part }) => part === 'token endpoint');
  return { code, endpoint, bad: lines.filter(({ state }) => state !== 'ok') };
}

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server that takes forms alone, and answers them so. It keeps what it was asked. */
async function startFormServer({ status, body = '', headers = {} }: Answer) {
  const asked: { readonly type: string; readonly authorization: string | undefined; readonly body: string }[] = [];
  const keys: (string | string[] | undefined)[] = [];
  const server = createServer(async (request, response) => {
    const { 'content-type': type = '', authorization } = request.headers;
    asked.push({ type, authorization, body: await text(request) });
    if (type !== '') keys.push(request.headers['x-api-key']);
    response.writeHead(type === 'application/x-www-form-urlencoded' ? status : 415, headers).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    SERVICE_AUTH_TOKEN_ENDPOINT: `${url}/token?tenant=a`,
    SERVICE_BASE_URL: url,
    SERVICE_AUTH_CLIENT_ID: 'client-of-tests',
    SERVICE_AUTH_CLIENT_SECRET: secretCanary,
    SERVICE_AUTH_SCOPE: 'read',
    SERVICE_AUTH_STORE: `file:${join(emptyFolder(), 'store')}`,
  };
  return { env, asked: () => asked.filter(({ type }) => type !== ''), form: { ...env, ...basic }, keys };
}

const basic = { SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_basic' };
const question = {
  type: 'application/x-www-form-urlencoded',
  authorization: undefined,
  body: 'grant_type=client_credentials',
};

test('a server that takes forms is asked by one, without credentials', async () => {
  const server = await startFormServer({ status: 401, body: '{"error":"invalid_client"}' });
  const { endpoint } = await doctor(server.form);
  expect(server.asked()).toEqual([question]);
  expect(endpoint).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('/token answers 401 invalid_client'),
  });
});

test('a server that is sent the other form says so', async () => {
  const server = await startFormServer({ status: 401 });
  const { code, endpoint } = await doctor(server.env);
  expect(server.asked()).toMatchObject([{ type: 'application/json', body: '{}' }]);
  expect(endpoint).toMatchObject({
    state: 'failure',
    message: expect.stringContaining('it does not take JSON'),
    advice: 'set SERVICE_AUTH_CLIENT_AUTHENTICATION, such as client_secret_basic: forms are sent then.',
  });
  expect(code).toBe(1);
});

test.for<[string, Answer, string, string]>([
  ['no token endpoint', { status: 404 }, 'failure', 'there is no token endpoint'],
  ['another grant', { status: 400, body: '{"error":"unsupported_grant_type"}' }, 'failure', 'no client-credentials'],
  ['a refusal with 200', { status: 200, body: '{"error":"Access Denied"}' }, 'ok', '200 Access Denied'],
  ['throttling', { status: 400, body: '{"__type":"ThrottlingException"}' }, 'warning', 'limits the rate of requests'],
  ['a 429', { status: 429 }, 'warning', 'limits the rate of requests'],
  ['"later"', { status: 403, headers: { 'retry-after': '30' } }, 'warning', 'limits the rate of requests'],
  ['an outage', { status: 400, body: '{"error":"temporarily_unavailable"}' }, 'failure', 'it is failing'],
  ['a page', { status: 200, body: '<html>' }, 'warning', 'where it should refuse'],
  ['an error that is no code', { status: 401, body: '{"error":"\\u001b[2J"}' }, 'ok', 'answers 401 to'],
  ['a long answer', { status: 401, body: ' '.repeat(200_000) }, 'ok', 'answers 401 to'],
])('%s is told', async ([, answer, state, says]) => {
  const server = await startFormServer(answer);
  const { endpoint } = await doctor(server.form);
  expect(server.asked()).toEqual([question]);
  expect(endpoint).toMatchObject({ state, message: expect.stringContaining(says) });
  expect(endpoint?.message).not.toContain('tenant');
  if (answer.status === 404) expect(endpoint?.advice).toContain('SERVICE_AUTH_TOKEN_ENDPOINT');
});

test('a private key needs neither a secret nor an audience', async () => {
  await using service = await startTestService({ clientAuthentication: 'private_key_jwt' });
  const { SERVICE_AUTH_URL: url, SERVICE_AUTH_AUDIENCE: _, ...env } = service.env;
  const configured = {
    ...env,
    SERVICE_AUTH_TOKEN_ENDPOINT: `${url}/oauth/token`,
    SERVICE_AUTH_STORE: `file:${join(emptyFolder(), 'store')}`,
    SERVICE_AUTH_STORE_KEY: 'a key for the tokens in the store, in all processes',
  };
  expect((await run(['token'], { env: configured })).code).toBe(0);
  expect(await doctor(configured)).toMatchObject({ code: 0, bad: [] });
  expect(service.counts.issued).toBe(1);
  const { SERVICE_AUTH_STORE_KEY: _key, ...withoutKey } = configured;
  const { code, bad } = await doctor(withoutKey);
  expect(code).toBe(1);
  expect(bad).toContainEqual(
    expect.objectContaining({
      state: 'failure',
      message: expect.stringContaining('SERVICE_AUTH_STORE_KEY is not set'),
    }),
  );
});

test('the secret that was refused is found under the name of its token', async () => {
  await using service = await startTestService({ clientAuthentication: 'client_secret_basic' });
  const { SERVICE_AUTH_URL: url, SERVICE_AUTH_AUDIENCE: _, ...env } = service.env;
  const configured = {
    ...env,
    SERVICE_AUTH_TOKEN_ENDPOINT: `${url}/oauth/token`,
    SERVICE_AUTH_SCOPE: 'write read',
    SERVICE_AUTH_PARAMETERS: 'tenant=a',
    SERVICE_AUTH_STORE: `file:${join(emptyFolder(), 'store')}`,
  };
  expect((await run(['token'], { env: configured })).code).toBe(0);
  const wrong = { ...configured, SERVICE_AUTH_CLIENT_SECRET: 'a secret that is wrong' };
  expect((await run(['token'], { env: wrong })).code).toBe(4);
  const { code, bad } = await doctor(wrong);
  expect(code).toBe(1);
  const name = 'scope=read write tenant=a';
  expect(bad.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`rejected this client secret for ${name} (401`),
      expect.stringContaining(`cannot open the token in use for ${name}`),
    ]),
  );
  expect(JSON.stringify(bad)).toContain("compare it with the provider's settings.");
  for (const command of ['explain', 'check']) {
    const { stdout } = await run([command], { env: configured });
    expect(stdout.replace(/\s+/g, ' ')).toContain("with the provider's settings");
    expect(stdout).not.toContain('dashboard');
  }
});

test('doctor asks the token endpoint with the further headers of a token request', async () => {
  const { form, keys, asked } = await startFormServer({ status: 401, body: '{"error":"invalid_client"}' });
  const { endpoint } = await doctor({ ...form, SERVICE_AUTH_HEADERS: `X-Api-Key=${secretCanary}&Accept=text/json` });
  expect(endpoint?.state).toBe('ok');
  expect(asked()).toEqual([question]);
  expect(keys).toEqual([secretCanary]);
});
