import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestService, type TestClientAuthentication } from '@service-auth/testing';
import { expect, onTestFinished, test } from 'vitest';
import { emptyFolder, run } from '../support/program.ts';
import { startServing } from '../support/serving.ts';

const marked = { 'service-auth': 'true' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const grant = 'grant_type=client_credentials';
const storeKey = 'a key for the tokens in the store, in all processes';

/** `serve` on a socket, in front of a service that wants this client authentication. */
async function startInFrontOf(
  clientAuthentication: TestClientAuthentication,
  envFor: (folder: string, key: string) => Record<string, string | undefined>,
) {
  const service = await startTestService({ clientAuthentication });
  onTestFinished(() => service.close());
  const folder = emptyFolder();
  const socketPath = join(folder, 'auth.sock');
  const serving = await startServing({
    service,
    args: ['--socket', socketPath],
    env: {
      SERVICE_AUTH_URL: undefined,
      SERVICE_AUTH_AUDIENCE: undefined,
      SERVICE_AUTH_TOKEN_ENDPOINT: `${service.url}/oauth/token`,
      SERVICE_AUTH_SCOPE: 'read write',
      ...envFor(folder, service.privateKey),
    },
  });
  const post = (body: string, headers: Record<string, string> = {}) =>
    serving.ask('/oauth/token', { socketPath, method: 'POST', headers: { ...form, ...headers }, body });
  const plain = () => serving.ask('/token', { socketPath, headers: marked });
  return { service, post, plain };
}

function withPrivateKey(folder: string, key: string) {
  const file = join(folder, 'key.pem');
  writeFileSync(file, key);
  return {
    SERVICE_AUTH_PRIVATE_KEY: undefined,
    SERVICE_AUTH_PRIVATE_KEY_FILE: file,
    SERVICE_AUTH_STORE_KEY: storeKey,
  };
}

test('a server that wants Basic: the socket and the token endpoint have one token', async () => {
  const { service, post, plain } = await startInFrontOf('client_secret_basic', () => ({}));
  const { clientId, clientSecret } = service.credentials;
  const basic = { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` };
  const first = JSON.parse((await plain()).body);
  expect(first).toEqual({ accessToken: expect.any(String), tokenType: 'Bearer', expiresAt: expect.any(String) });
  const second = await post(grant, basic);
  expect([second.status, JSON.parse(second.body).access_token]).toEqual([200, first.accessToken]);
  expect((await post(`${grant}&scope=write+read`, basic)).status).toBe(200);
  expect(await post(`${grant}&scope=read`, basic)).toMatchObject({
    status: 400,
    body: expect.stringContaining('The shared token has the scopes of SERVICE_AUTH_SCOPE: send these, or none.'),
  });
  expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued']);
});

test('a server that wants a private key: the socket has the token, and nobody can authenticate without a secret', async () => {
  const { service, post, plain } = await startInFrontOf('private_key_jwt', withPrivateKey);
  expect(await plain()).toMatchObject({ status: 200 });
  const { clientId } = service.credentials;
  const attempts = [
    await post(`${grant}&client_id=${clientId}`),
    await post(`${grant}&client_id=${clientId}&client_secret=`),
    await post(grant, { authorization: `Basic ${btoa(`${clientId}:`)}` }),
    await post(`${grant}&client_id=${clientId}&client_secret=undefined`),
  ];
  for (const attempt of attempts)
    expect(attempt).toMatchObject({ status: 401, body: expect.stringContaining('There is no client secret here') });
  expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued']);
});

test('a private key without SERVICE_AUTH_STORE_KEY is a problem of the configuration', async () => {
  await using service = await startTestService({ clientAuthentication: 'private_key_jwt' });
  const env = { ...service.env, SERVICE_AUTH_STORE: `file:${emptyFolder()}` };
  const { code, stderr } = await run(['serve', '--no-key'], { env });
  expect(code).toBe(2);
  expect(stderr).toContain('SERVICE_AUTH_STORE_KEY');
});
