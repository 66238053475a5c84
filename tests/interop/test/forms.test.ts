import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  createServiceAuth,
  createServiceAuthFromEnv,
  isServiceAuthError,
  memoryStore,
  type ServiceAuthOptions,
} from '@service-auth/core';
import { clientSecretBasic, clientSecretPost, discoverTokenEndpoint, privateKeyJwt } from '@service-auth/core/oauth2';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startTestService, type TestClientAuthentication } from '@service-auth/testing';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startAuthlib } from '../src/start-authlib.ts';
import { startNodeOauthServer } from '../src/start-node-oauth-server.ts';
import { startOauth2MockServer } from '../src/start-oauth2-mock-server.ts';
import { resource, startOidcForms } from '../src/start-oidc-forms.ts';

const plain = await startOidcForms(false);
const authlib = await orSkip(startAuthlib);
const servers = {
  'oidc-provider': plain,
  'oidc-provider, https': await startOidcForms(true),
  '@node-oauth/oauth2-server': await startNodeOauthServer(),
  ...(authlib && { 'Authlib, in Python': authlib }),
};
afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

const create = (options: ServiceAuthOptions) => createServiceAuth({ store: memoryStore(), ...options });

async function failure(options: ServiceAuthOptions) {
  const auth = create(options);
  const error: unknown = await auth.getToken().catch((reason: unknown) => reason);
  if (!isServiceAuthError(error)) throw error;
  return { ...error, code: error.code, used: (await auth.getUsage()).used };
}

describe.each(Object.entries(servers))('with %s', (_, server) => {
  test.each(Object.entries(server.clients))(
    '%s: ten callers in two processes have one token for the scopes that were asked for',
    async (_, options) => {
      const before = server.tokenRequests;
      const store = memoryStore();
      const [one, other] = [
        create({ ...options, store, scope: 'read write' }),
        create({ ...options, store, scope: ['write', 'read'] }),
      ];
      const tokens = await Promise.all(Array.from({ length: 5 }, () => [one.getToken(), other.getToken()]).flat());
      expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
      expect(server.tokenRequests - before).toBe(1);
      // Either process may ask for it.
      expect([
        { clientId: options.clientId, scope: 'read write' },
        { clientId: options.clientId, scope: 'write read' },
      ]).toContainEqual(await server.find(tokens[0]?.value ?? ''));
    },
  );

  test.each(Object.entries(server.clients))(
    '%s: a scope that the client must not have is about this token',
    async (_, options) => {
      expect(await failure({ ...options, scope: 'admin' })).toMatchObject({
        code: 'ERR_CREDENTIALS_REJECTED',
        about: 'request',
        oauthError: 'invalid_scope',
        used: 0,
      });
    },
  );

  test.each(Object.entries(server.clients).filter(([, options]) => options.clientSecret))(
    '%s: a wrong secret is about the client',
    async (_, options) => {
      expect(await failure({ ...options, clientSecret: 'wrong' })).toMatchObject({
        code: 'ERR_CREDENTIALS_REJECTED',
        about: 'client',
        oauthError: 'invalid_client',
        used: 0,
      });
    },
  );
});

describe('with oidc-provider', () => {
  test('a token is for the resource that was asked for, and another one is refused', async () => {
    const options = plain.clients['client_secret_basic'] as ServiceAuthOptions;
    const token = await create({ ...options, resource, scope: 'read' }).getToken();
    expect(token.expiresAt - token.issuedAt).toBe(600_000);
    expect(await failure({ ...options, resource: 'https://elsewhere.example/' })).toMatchObject({
      about: 'request',
      oauthError: 'invalid_target',
    });
  });

  test('an assertion for somebody else, or of another key, is about the client', async () => {
    const options = plain.clients['private_key_jwt, ES256'] as ServiceAuthOptions;
    const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ]);
    for (const clientAuthentication of [
      privateKeyJwt({ key: privateKey }),
      privateKeyJwt({ key: privateKey, audience: 'https://elsewhere.example/' }),
    ]) {
      expect(await failure({ ...options, clientAuthentication })).toMatchObject({
        about: 'client',
        endpointStatus: 401,
      });
    }
  });

  test('its metadata says where tokens are requested', async () => {
    const { issuer = '', tokenEndpoint } = plain.clients['client_secret_post'] as ServiceAuthOptions;
    expect(await discoverTokenEndpoint(issuer)).toMatchObject({
      tokenEndpoint,
      clientAuthenticationMethods: expect.arrayContaining(['private_key_jwt']),
    });
  });
});

test('the certificate of the page reaches oidc-provider', async () => {
  const { files, clients } = servers['oidc-provider, https'];
  const folder = mkdtempSync(join(import.meta.dirname, '../node_modules/.certificate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = readFileSync(new URL('../../../docs/servers.md', import.meta.url), 'utf8');
  const [, code = ''] = /## A certificate.*?```ts\n(.*?)```/s.exec(page) ?? [];
  const named = { 'tls.key': files.key, 'tls.crt': files.certificate, 'ca.crt': files.ca };
  for (const [name, text] of Object.entries(named)) writeFileSync(join(folder, name), text);
  const { tokenEndpoint, issuer } = clients['self_signed_tls_client_auth'] as ServiceAuthOptions;
  const env = {
    SERVICE_AUTH_TOKEN_ENDPOINT: String(tokenEndpoint),
    SERVICE_AUTH_ISSUER: issuer ?? '',
    SERVICE_AUTH_CLIENT_ID: 'tls',
  };
  const program = join(folder, 'program.mjs');
  const said = 'console.log(authorization.slice(0, 7), (await auth.getUsage()).used); await dispatcher.close();';
  writeFileSync(program, stripTypeScriptTypes(code.replaceAll('/run/secrets', folder)) + said);
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: { ...process.env, ...env } });
  expect(stdout).toBe('Bearer  1\n');
});

test('oauth2-mock-server takes a form, too, and its shapes are understood', async () => {
  const server = await startOauth2MockServer();
  onTestFinished(() => server.close());
  const { authUrl, ...options } = server.options;
  server.next(({ body }) =>
    Object.assign(body ?? {}, {
      token_type: 'Application Access Token',
      access_token: 'v^1.1#i^1',
      expires_in: '7200',
    }),
  );
  const auth = create({
    ...options,
    tokenEndpoint: `${authUrl}/oauth/token`,
    clientAuthentication: clientSecretPost(),
    recognizedTokenTypes: ['Application Access Token'],
  });
  const { value, expiresAt, issuedAt } = await auth.getToken();
  expect([value, expiresAt - issuedAt]).toEqual(['v^1.1#i^1', 7_200_000]);
});

describe('with the test service', () => {
  const kinds: Record<TestClientAuthentication, (privateKey: string) => Partial<ServiceAuthOptions>> = {
    client_secret_basic: () => ({ clientAuthentication: clientSecretBasic() }),
    client_secret_post: () => ({ clientAuthentication: clientSecretPost() }),
    private_key_jwt: (key) => ({ clientAuthentication: privateKeyJwt({ key }) }),
  };

  test.each(Object.entries(kinds))('%s works with options and with variables', async (kind, more) => {
    const clients = [{ clientId: 'ü:1', clientSecret: 'a+b c%', audiences: ['api'] }];
    await using service = await startTestService({ clients, clientAuthentication: kind as TestClientAuthentication });
    const byOptions = await create({ ...service.options, ...more(service.privateKey) }).getToken();
    const byVariables = await createServiceAuthFromEnv(service.env, { store: memoryStore() }).getToken();
    expect(service.tokenRequests.map(({ outcome, problems }) => [outcome, problems])).toEqual(
      Array(2).fill(['issued', []]),
    );
    expect(byOptions.value).not.toBe(byVariables.value);
  });
});
