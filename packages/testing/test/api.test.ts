import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestClock, startTestService, type TestClock, type TestService } from '../src/index.ts';
import { callApi, issueToken } from './requests.ts';

let clock: TestClock;
let service: TestService;

beforeEach(async () => {
  clock = createTestClock();
  service = await startTestService({ clock });
});
afterEach(() => service.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the API accepts', () => {
  test('a token of the service, and tells what it received', async () => {
    const token = await issueToken(service);
    const response = await fetch(`${service.baseUrl}/api/v1/items?page=2`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'r-1' },
      body: 'Grüße',
    });
    expect(response.status).toBe(200);
    const [recorded] = service.apiRequests;
    expect(recorded).toMatchObject({
      method: 'POST',
      path: '/api/v1/items?page=2',
      headers: { 'x-request-id': 'r-1' },
      body: { bytes: 7, text: 'Grüße', sha256: sha256('Grüße') },
      bearer: 'valid',
      tokenId: service.issuances[0]?.tokenId,
      authorizationSha256: sha256(`Bearer ${token}`),
    });
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(recorded)));
    expect(service.counts).toMatchObject({ apiRequests: 1, apiUnauthorized: 0 });
  });

  test('a token until the second in which it expires', async () => {
    const token = await issueToken(service);
    await clock.advance(86_400_000 - 1);
    expect((await callApi(service, token)).status).toBe(200);
    await clock.advance(1);
    expect((await callApi(service, token)).status).toBe(401);
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'expired']);
  });
});

describe('the API answers 401 to', () => {
  async function rejected(bearer: string, authorization: string | undefined): Promise<void> {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await callApi(service, undefined, { headers });
    expect(response.status).toBe(401);
    expect(service.apiRequests.at(-1)?.bearer).toBe(bearer);
    expect(service.counts.apiUnauthorized).toBe(service.counts.apiRequests);
  }

  test('no token, with a challenge', async () => {
    const response = await callApi(service);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    await rejected('none', undefined);
  });

  test('anything that is not "Bearer" and a token', async () => {
    const token = await issueToken(service);
    for (const header of [
      token,
      `bearer ${token}`,
      `Bearer  ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      'Basic YTpi',
    ]) {
      await rejected('invalid', header);
    }
  });

  test('a token of another service', async () => {
    await using other = await startTestService();
    await rejected('invalid', `Bearer ${await issueToken(other)}`);
  });

  test('a token that was tampered with, in any of its parts', async () => {
    const token = await issueToken(service);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const longer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const tampered = [
      `${header}.${longer}.${signature}`,
      `${unsigned}.${payload}.`,
      `${unsigned}.${payload}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.slice(4)}`,
      `${token}.x`,
      'x',
    ];
    for (const each of tampered) await rejected('invalid', `Bearer ${each}`);
  });

  test('a token that was revoked, and to no other', async () => {
    const [first, second] = [await issueToken(service), await issueToken(service)];
    service.revoke(first);
    expect((await callApi(service, first)).headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    await rejected('revoked', `Bearer ${first}`);
    expect((await callApi(service, second)).status).toBe(200);
  });

  test('all tokens that were issued when all were revoked, and to none issued later', async () => {
    const earlier = [await issueToken(service), await issueToken(service)];
    service.revoke('all');
    for (const token of earlier) await rejected('revoked', `Bearer ${token}`);
    expect((await callApi(service, await issueToken(service))).status).toBe(200);
  });

  test('nothing else: revoking what was never issued is a mistake of the test', () => {
    expect(() => service.revoke('x')).toThrow('this service issued');
  });
});

describe('scripted answers of the API', () => {
  test('can be 403, 500 or 401 for the next requests, whatever their token', async () => {
    const token = await issueToken(service);
    service.api.next({ status: 403 }, { status: 500 }, { status: 401 });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await callApi(service, token)).status);
    expect(statuses).toEqual([403, 500, 401, 200]);
    expect(service.counts).toMatchObject({ apiRequests: 4, apiUnauthorized: 1 });
  });

  test('can depend on the request', async () => {
    const token = await issueToken(service);
    service.api.always(({ path }) => (path === '/api/v1/' ? undefined : { status: 404 }));
    expect((await callApi(service, token)).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${service.baseUrl}/api/v1/x`, { headers })).status).toBe(404);
  });

  test.each([301, 302, 303, 307, 308])('can be a redirect with status %i', async (status) => {
    service.api.next({ status, headers: { location: 'http://127.0.0.1:9/' } });
    const response = await callApi(service);
    expect([response.status, response.headers.get('location')]).toEqual([status, 'http://127.0.0.1:9/']);
  });
});

describe('what the service remembers', () => {
  test('contains neither tokens nor secrets', async () => {
    const token = await issueToken(service);
    const answer = await callApi(service, token, {
      headers: { authorization: `Bearer ${token}`, cookie: `t=${token}` },
    });
    const seen = JSON.stringify([service.apiRequests, service.tokenRequests, service.issuances, await answer.text()]);
    expect(service.findSecrets(seen)).toEqual([]);
  });

  test('is enough to find a token or a secret, whole or in part, wherever it leaked', async () => {
    const token = await issueToken(service);
    const [, payload, signature] = token.split('.');
    for (const text of [`x${token}x`, `${payload}`, `"${signature}"`]) {
      expect(service.findSecrets(text)).toEqual(['access token']);
    }
    expect(service.findSecrets(`a=${service.credentials.clientSecret}&b`)).toEqual(['client secret']);
    service.setClientSecret('next-secret');
    expect(service.findSecrets(`${service.credentials.clientSecret} ${token}`)).toEqual([
      'access token',
      'client secret',
    ]);
    expect(service.findSecrets('next-secret')).toEqual(['client secret']);
    expect(service.findSecrets(token.split('.')[0] ?? '')).toEqual([]);
  });
});
