import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestClock, startTestService, type TestClientAuthentication, type TestService } from '../src/index.ts';

const clock = createTestClock();

async function start(clientAuthentication: TestClientAuthentication): Promise<TestService> {
  const clients = [{ clientId: 'an id:1', clientSecret: 'a+b c%ü', audiences: ['https://api.example/', 'other'] }];
  const service = await startTestService({ clock, clients, clientAuthentication });
  onTestFinished(() => service.close());
  return service;
}

const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
const encoded = basic('an+id%3A1:a%2Bb+c%25%C3%BC');

/** What the service says to a form. */
async function post(
  service: TestService,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
) {
  const body = typeof fields === 'string' ? fields : `${new URLSearchParams(fields)}`;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body,
    headers: { ...type, ...headers },
  });
  const { access_token, error, scope } = (await response.json()) as Record<string, string>;
  const { problems, outcome } = service.tokenRequests.at(-1) ?? {};
  return { status: response.status, error, scope, problems, outcome, token: access_token };
}

const grant = { grant_type: 'client_credentials' };
const secrets = { client_id: 'an id:1', client_secret: 'a+b c%ü' };

describe('client_secret_basic', () => {
  test('is a form with a form-encoded pair in its header', async () => {
    const service = await start('client_secret_basic');
    const answer = await post(service, { ...grant, scope: 'read write', audience: 'other' }, encoded);
    expect(answer).toMatchObject({ status: 200, scope: 'read write', outcome: 'issued' });
    expect((await post(service, grant, encoded)).scope).toBeUndefined();
    expect(service.issuances.map(({ clientId, audience }) => [clientId, audience])).toEqual([
      ['an id:1', 'other'],
      ['an id:1', 'https://api.example/'],
    ]);
  });

  test.each<[string, Record<string, string> | string, Record<string, string>, number, string[]]>([
    ['a pair as it is', grant, basic('an id:1:a+b c%ü'), 400, ['authorization: no form-encoded pair']],
    ['no pair', grant, {}, 400, ['authorization: no form-encoded pair']],
    [
      'an id in the form, too',
      { ...grant, client_id: 'an id:1' },
      encoded,
      400,
      ['client_id: not with client_secret_basic'],
    ],
    ['a secret of somebody else', grant, basic('an+id%3A1:b'), 401, ['client_secret: wrong']],
    ['an unknown client', grant, basic('x:b'), 401, ['client_id: unknown']],
    [
      'JSON',
      '{}',
      { ...encoded, 'content-type': 'application/json' },
      415,
      ['content-type: not application/x-www-form-urlencoded'],
    ],
    ['a field twice', 'grant_type=client_credentials&scope=a&scope=b', encoded, 400, ['scope: more than one']],
    ['an empty field', { ...grant, scope: '' }, encoded, 400, ['scope: empty']],
    ['a probe', grant, {}, 400, ['authorization: no form-encoded pair']],
    ['another grant', { grant_type: 'password' }, encoded, 400, ['grant_type: not client_credentials']],
  ])('is not %s', async (_, fields, headers, status, problems) => {
    const service = await start('client_secret_basic');
    expect(await post(service, fields, headers)).toMatchObject({ status, problems, outcome: 'rejected' });
    expect(service.issuances).toEqual([]);
  });
});

describe('client_secret_post', () => {
  test('is a form with id and secret', async () => {
    const service = await start('client_secret_post');
    expect(await post(service, { ...grant, ...secrets })).toMatchObject({ status: 200 });
    expect(
      await post(
        service,
        'grant_type=client_credentials&resource=a:b&resource=c:d&client_id=an+id:1&client_secret=a%2bb%20c%25ü',
      ),
    ).toMatchObject({ status: 200 });
  });

  test.each([
    ['a header', { ...grant, ...secrets }, encoded, ['authorization: not with client_secret_post']],
    [
      'an assertion',
      { ...grant, ...secrets, client_assertion: 'a' },
      {},
      ['client_assertion: not with client_secret_post'],
    ],
    ['nothing', {}, {}, ['grant_type: missing', 'client_id: missing', 'client_secret: missing']],
  ])('is not %s', async (_, fields, headers, problems) => {
    expect(await post(await start('client_secret_post'), fields, headers)).toMatchObject({ status: 400, problems });
  });
});

describe('private_key_jwt', () => {
  const seconds = () => Math.floor(clock.now() / 1_000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

  /** The form with an assertion, as it should be but for some claims. */
  function asserting(
    service: TestService,
    change: object = {},
    key = createPrivateKey(service.privateKey),
    alg = 'ES256',
  ) {
    const id = 'an id:1';
    const claims = {
      iss: id,
      sub: id,
      aud: `${service.url}/`,
      jti: randomUUID(),
      iat: seconds(),
      exp: seconds() + 60,
      ...change,
    };
    const content = `${encode({ alg })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
    return {
      ...grant,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: `${content}.${signature.toString('base64url')}`,
    };
  }

  test('is an assertion of the key of the service, with or without the id of the client', async () => {
    const service = await start('private_key_jwt');
    expect(await post(service, asserting(service))).toMatchObject({ status: 200 });
    expect(await post(service, { ...asserting(service), client_id: 'an id:1' })).toMatchObject({ status: 200 });
    expect(service.options).not.toHaveProperty('clientSecret');
    expect(service.env).toMatchObject({
      SERVICE_AUTH_PRIVATE_KEY: service.privateKey,
      SERVICE_AUTH_ISSUER: `${service.url}/`,
    });
    expect(service.env).not.toHaveProperty('SERVICE_AUTH_CLIENT_SECRET');
  });

  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  test.each<[string, (service: TestService) => Record<string, string>, string]>([
    ['of another key', (service) => asserting(service, {}, other), 'signature: not of the key of this service'],
    ['of no algorithm', (service) => asserting(service, {}, undefined, 'none'), 'alg: not ES256'],
    ['about another client', (service) => asserting(service, { iss: 'x' }), 'iss, sub: not the client'],
    [
      'for the token endpoint',
      (service) => asserting(service, { aud: `${service.url}/oauth/token` }),
      'aud: not the issuer alone',
    ],
    ['for a list', (service) => asserting(service, { aud: [`${service.url}/`] }), 'aud: not the issuer alone'],
    ['that has expired', (service) => asserting(service, { exp: seconds() }), 'iat, exp: not valid now'],
    ['that lives for long', (service) => asserting(service, { exp: seconds() + 301 }), 'iat, exp: not valid now'],
    ['of tomorrow', (service) => asserting(service, { iat: seconds() + 6 }), 'iat, exp: not valid now'],
    ['without an id', (service) => asserting(service, { jti: undefined }), 'jti: missing or used before'],
    [
      'that is none',
      () => ({ ...asserting({ url: '' } as TestService, {}, other), client_assertion: 'a.b' }),
      'client_id: unknown',
    ],
  ])('is not an assertion %s', async (_, fields, problem) => {
    const service = await start('private_key_jwt');
    expect(await post(service, fields(service))).toMatchObject({
      status: 401,
      error: 'invalid_client',
      problems: [problem],
    });
  });

  test('accepts an assertion once', async () => {
    const service = await start('private_key_jwt');
    const fields = asserting(service);
    expect((await post(service, fields)).status).toBe(200);
    expect(await post(service, fields)).toMatchObject({ status: 401, problems: ['jti: missing or used before'] });
  });

  test('is not a secret', async () => {
    const service = await start('private_key_jwt');
    expect((await post(service, { ...grant, ...secrets })).problems).toEqual([
      'client_assertion_type: missing',
      'client_assertion: missing',
      'client_secret: not with private_key_jwt',
    ]);
  });
});
