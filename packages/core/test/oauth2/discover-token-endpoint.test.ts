import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isServiceAuthError } from '../../src/index.ts';
import { discoverTokenEndpoint } from '../../src/oauth2/index.ts';

type Answer = (origin: string) => { status?: number; body?: string; metadata?: object };

/** A server with these answers by path. Returns its origin, and the paths that were asked for. */
async function serve(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const {
      status = 200,
      metadata,
      body = JSON.stringify(metadata),
    } = answers[url]?.(origin) ?? { status: 404, body: '' };
    response.writeHead(status).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin, asked, end: () => new Promise((resolve) => server.close(resolve)) };
}

async function failure(attempt: Promise<unknown>) {
  const error = await attempt.catch((reason: unknown) => reason);
  if (!isServiceAuthError(error)) throw error;
  return error;
}

test('reads the metadata of RFC 8414, whose address has the path of the issuer at its end', async () => {
  const { origin, asked } = await serve({
    '/.well-known/oauth-authorization-server/tenant-1': (issuer) => ({
      metadata: {
        issuer: `${issuer}/tenant-1`,
        token_endpoint: `${issuer}/token?version=2`,
        mtls_endpoint_aliases: { token_endpoint: `${issuer}/mtls/token` },
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth', 7],
        jwks_uri: `${issuer}/jwks`,
      },
    }),
  });
  expect(await discoverTokenEndpoint(`${origin}/tenant-1`)).toEqual({
    issuer: `${origin}/tenant-1`,
    tokenEndpoint: `${origin}/token?version=2`,
    mtlsTokenEndpoint: `${origin}/mtls/token`,
    clientAuthenticationMethods: ['private_key_jwt', 'tls_client_auth'],
  });
  expect(asked).toEqual(['/.well-known/oauth-authorization-server/tenant-1']);
});

test.each(['', '/', '/realms/one', '/realms/one/'])(
  'reads that of OpenID Connect for an issuer with the path %j',
  async (path) => {
    const { origin } = await serve({
      [`${path.replace(/\/$/, '')}/.well-known/openid-configuration`]: (origin) => ({
        metadata: { issuer: `${origin}${path}`, token_endpoint: `${origin}/token` },
      }),
    });
    expect(await discoverTokenEndpoint(`${origin}${path}`)).toEqual({
      issuer: `${origin}${path}`,
      tokenEndpoint: `${origin}/token`,
    });
  },
);

test.each<[string, Answer, string]>([
  [
    'of another issuer',
    (o) => ({ metadata: { issuer: 'https://evil.example', token_endpoint: `${o}/t` } }),
    'is not the issuer',
  ],
  [
    'of an issuer without its slash',
    (o) => ({ metadata: { issuer: `${o}/`, token_endpoint: `${o}/t` } }),
    'is not the issuer',
  ],
  ['without a token endpoint', (o) => ({ metadata: { issuer: o } }), 'has metadata without a token endpoint'],
  [
    'with a token endpoint without TLS',
    (o) => ({ metadata: { issuer: o, token_endpoint: 'http://auth.example/t' } }),
    'without a token endpoint',
  ],
  ['in HTML', () => ({ body: '<html>' }), 'has no metadata'],
  ['behind a redirect', () => ({ status: 302, body: '' }), 'has no metadata'],
  ['that is null', () => ({ body: 'null' }), 'has no metadata'],
])('refuses metadata %s', async (_, answer, message) => {
  const { origin } = await serve({ '/.well-known/oauth-authorization-server': answer });
  const error = await failure(discoverTokenEndpoint(origin));
  expect(error).toMatchObject({ code: 'ERR_CONFIG', problems: [{ option: 'issuer' }] });
  expect(error.message).toContain(message);
});

test.each(['auth.example.com', 'http://auth.example.com', 'https://auth.example.com/?a=b', 7 as never])(
  'asks nobody about %j',
  async (issuer) => {
    expect((await failure(discoverTokenEndpoint(issuer))).code).toBe('ERR_CONFIG');
  },
);

test('says when the server cannot be reached or does not work', async () => {
  const { origin, end } = await serve({ '/.well-known/oauth-authorization-server': () => ({ status: 503, body: '' }) });
  expect(await failure(discoverTokenEndpoint(origin))).toMatchObject({
    code: 'ERR_TOKEN_ENDPOINT',
    endpointStatus: 503,
  });
  await end();
  const error = await failure(discoverTokenEndpoint(origin));
  expect(error).toMatchObject({ code: 'ERR_TOKEN_ENDPOINT', ambiguous: false });
  expect(error.message).toContain('ECONNREFUSED');
});
