import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestClock, startTestService, type TestService } from '../src/index.ts';
import { callApi, issueToken, requestToken } from './requests.ts';

const clock = createTestClock();
let service: TestService;

beforeEach(async () => {
  service = await startTestService({ clock });
});
afterEach(() => service.close());

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('a valid token request', () => {
  test('is answered with a bearer token for 24 hours, and counted', async () => {
    const response = await requestToken(service);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 86_400,
    });
    expect(service.counts).toMatchObject({ issued: 1, refused: 0, rejected: 0, tokenRequests: 1 });
    const { audience, clientId } = service.credentials;
    expect(service.issuances).toEqual([{ at: clock.now(), clientId, audience, tokenId: expect.any(String) }]);
    expect(service.tokenRequests[0]).toMatchObject({ outcome: 'issued', problems: [], path: '/oauth/token' });
  });

  test('is accepted with the whole URL in the place of the path', async () => {
    const { audience, clientId, clientSecret } = service.credentials;
    const fields = { audience, grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const headers = { 'content-type': 'application/json' };
    const sent = request(service.authUrl, { method: 'POST', path: `${service.authUrl}/oauth/token`, headers });
    sent.end(JSON.stringify(fields));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
    expect(service.tokenRequests[0]).toMatchObject({ outcome: 'issued', path: '/oauth/token' });
  });

  test('gives a JWT that the published key verifies', async () => {
    const token = await issueToken(service);
    const jwks = await fetch(`${service.authUrl}/.well-known/jwks.json`);
    const { keys } = (await jwks.json()) as { keys: [{ kid: string }] };
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
    expect(keys).toHaveLength(1);
    expect({ alg, kid }).toEqual({ alg: 'RS256', kid: keys[0].kid });
    expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    const key = createPublicKey({ key: keys[0], format: 'jwk' });
    const content = Buffer.from(`${header}.${payload}`);
    expect(verify('RSA-SHA256', content, key, Buffer.from(signature, 'base64url'))).toBe(true);
    const iat = Math.floor(clock.now() / 1000);
    const { audience: aud } = service.credentials;
    expect(claimsOf(token)).toMatchObject({ iss: `${service.url}/`, aud, iat, exp: iat + 86_400 });
  });

  test('gives another token each time', async () => {
    expect(await issueToken(service)).not.toBe(await issueToken(service));
  });
});

describe('a token request is rejected for', () => {
  const json = { 'content-type': 'application/json' };
  const cases: [what: string, fields: Record<string, unknown>, init: RequestInit, status: number, problem: RegExp][] = [
    ['another method', {}, { method: 'PUT' }, 405, /^method: PUT instead of POST$/],
    ['a missing content type', {}, { headers: { 'content-type': '' } }, 415, /^content-type/],
    ['a form', {}, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, /^content-type/],
    [
      'a content type with parameters',
      {},
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
      415,
      /^content-type/,
    ],
    ['an encoded body', {}, { headers: { ...json, 'content-encoding': 'gzip' } }, 415, /^content-encoding/],
    [
      'an Authorization header',
      {},
      { headers: { ...json, authorization: 'Bearer x' } },
      400,
      /^authorization: stray header$/,
    ],
    ['a cookie', {}, { headers: { ...json, cookie: 'a=b' } }, 400, /^cookie: stray header$/],
    ['a body that is not JSON', {}, { body: 'audience=x' }, 400, /^body/],
    ['an empty body', {}, { body: '' }, 400, /^body/],
    ['a list', {}, { body: '[]' }, 400, /^body/],
    ['null', {}, { body: 'null' }, 400, /^body/],
    ['a byte order mark', {}, { body: '\uFEFF{}' }, 400, /^body/],
    ['bytes that are not UTF-8', {}, { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, /^body/],
    ['a missing audience', { audience: undefined }, {}, 400, /^audience: missing$/],
    ['a missing grant_type', { grant_type: undefined }, {}, 400, /^grant_type: missing$/],
    ['a missing client_id', { client_id: undefined }, {}, 400, /^client_id: missing$/],
    ['a missing client_secret', { client_secret: undefined }, {}, 400, /^client_secret: missing$/],
    ['an audience that is a list', { audience: ['a'] }, {}, 400, /^audience: not a string$/],
    ['a client_id that is a number', { client_id: 1 }, {}, 400, /^client_id: not a string$/],
    ['a client_secret that is null', { client_secret: null }, {}, 400, /^client_secret: not a string$/],
    ['an empty client_secret', { client_secret: '' }, {}, 400, /^client_secret: empty$/],
    ['an unknown field', { scope: 'all' }, {}, 400, /^"scope": unknown field$/],
    ['another grant type', { grant_type: 'password' }, {}, 400, /^grant_type: not client_credentials$/],
    ['a grant type in upper case', { grant_type: 'CLIENT_CREDENTIALS' }, {}, 400, /^grant_type/],
    ['an unknown client', { client_id: 'somebody' }, {}, 401, /^client_id: unknown$/],
    ['a wrong secret', { client_secret: 'guessed' }, {}, 401, /^client_secret: wrong$/],
    ["an audience that is not the client's", { audience: 'https://other.example/' }, {}, 403, /^audience: not one/],
    ['an audience with another slash', { audience: 'https://api.example' }, {}, 403, /^audience: not one/],
  ];

  test.each(cases)('%s', async (_, fields, init, status, problem) => {
    const response = await requestToken(service, fields, init);
    expect(response.status).toBe(status);
    const [request, ...others] = service.tokenRequests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ outcome: 'rejected', problems: [expect.stringMatching(problem)] });
    expect(service.counts).toMatchObject({ issued: 0, rejected: 1, tokenRequests: 1 });
  });

  test('a query in the address', async () => {
    const response = await fetch(`${service.authUrl}/oauth/token?x=1`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(service.tokenRequests[0]?.problems).toEqual(['path: a query is not part of /oauth/token']);
  });

  test('several reasons at once, all of them named', async () => {
    await requestToken(service, { audience: 1, client_id: undefined, extra: 1, more: 2 });
    expect(service.tokenRequests[0]?.problems).toEqual([
      'audience: not a string',
      'client_id: missing',
      '"extra": unknown field',
      '"more": unknown field',
    ]);
  });
});

describe('an error answer', () => {
  test('has the error code of OAuth 2.0', async () => {
    const errorOf = async (fields: Record<string, unknown>) => {
      const { error } = (await (await requestToken(service, fields)).json()) as { error: string };
      return error;
    };
    expect(await errorOf({ extra: 1 })).toBe('invalid_request');
    expect(await errorOf({ grant_type: 'password' })).toBe('unsupported_grant_type');
    expect(await errorOf({ client_secret: 'guessed' })).toBe('invalid_client');
    expect(await errorOf({ audience: 'other' })).toBe('access_denied');
  });

  test('never repeats what was sent', async () => {
    const secret = 'a-secret-that-must-not-come-back';
    const answers = [
      await requestToken(service, { client_secret: secret, extra: secret }),
      await requestToken(service, { client_secret: secret }),
      await requestToken(service, {}, { body: secret }),
    ];
    for (const answer of answers) expect(await answer.text()).not.toContain(secret);
    expect(JSON.stringify(service.tokenRequests)).not.toContain(secret);
  });

  test('other addresses do not exist', async () => {
    for (const path of ['/', '/oauth', '/oauth/token/', '/api/v2/', '/api/v1']) {
      expect((await fetch(`${service.url}${path}`)).status, path).toBe(404);
    }
    expect(service.counts).toMatchObject({ tokenRequests: 0, apiRequests: 0 });
  });
});

describe('the clients', () => {
  test('can be several, each with secrets and audiences of its own', async () => {
    await using service = await startTestService({
      clients: [
        { clientId: 'one', clientSecret: 'secret-of-one', audiences: ['api-a', 'api-b'] },
        { clientId: 'two', clientSecret: ['secret-of-two', 'next-secret-of-two'], audiences: ['api-a'] },
      ],
    });
    expect(service.credentials).toEqual({ audience: 'api-a', clientId: 'one', clientSecret: 'secret-of-one' });
    const two = { client_id: 'two', client_secret: 'secret-of-two' };
    expect((await requestToken(service, two)).status).toBe(200);
    expect((await requestToken(service, { ...two, client_secret: 'next-secret-of-two' })).status).toBe(200);
    expect((await requestToken(service, { ...two, client_secret: 'secret-of-one' })).status).toBe(401);
    expect((await requestToken(service, { ...two, audience: 'api-b' })).status).toBe(403);
    const token = await issueToken(service, { audience: 'api-b' });
    expect(service.issuances.map(({ clientId, audience }) => `${clientId} ${audience}`)).toEqual([
      'two api-a',
      'two api-a',
      'one api-b',
    ]);
    // The API is the one of the first audience.
    expect((await callApi(service, token)).status).toBe(401);
    expect(service.apiRequests[0]?.bearer).toBe('audience');
  });

  test('get new secrets while the service runs', async () => {
    const { clientSecret } = service.credentials;
    service.setClientSecret([clientSecret, 'next-secret']);
    expect((await requestToken(service)).status).toBe(200);
    service.setClientSecret('next-secret');
    expect((await requestToken(service)).status).toBe(401);
    expect((await requestToken(service, { client_secret: 'next-secret' })).status).toBe(200);
    expect(() => service.setClientSecret('x', 'nobody')).toThrow('nobody');
  });

  test('must have a secret and an audience', async () => {
    const clients = [{ clientId: 'one', clientSecret: 'secret', audiences: [] }];
    await expect(startTestService({ clients })).rejects.toThrow(TypeError);
  });
});
