// Every error of RFC 6749 section 5.2, with its exact answer.
import { expect, test } from 'vitest';
import { readTokenRequest } from '../../src/serve/token-request.ts';

const audiences = ['https://api.example/', 'https://other.example/'];
const expected = { clientId: 'client', secret: 'a%41+ü:"\\' };
const { clientId, secret } = expected;
const form = 'application/x-www-form-urlencoded';

interface Given {
  readonly type?: string;
  readonly authorization?: readonly string[];
}

function read(body: string | Record<string, string>, { type = form, authorization = [] }: Given = {}) {
  const text = typeof body === 'string' ? body : new URLSearchParams(body).toString();
  const rawHeaders = ['Content-Type', type, ...authorization.flatMap((value) => ['Authorization', value])];
  return readTokenRequest({ method: 'POST', target: '/oauth/token', rawHeaders }, text, expected, audiences);
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
const grant = { grant_type: 'client_credentials' };
const inBody = { ...grant, client_id: clientId, client_secret: secret };
const [defaultAudience = '', otherAudience = ''] = audiences;

test('a form and JSON with the credentials in the body are in order, and the first audience is the default', () => {
  expect(read(inBody)).toEqual({ audience: defaultAudience });
  expect(read(inBody, { type: `${form}; charset=UTF-8` })).toEqual({ audience: defaultAudience });
  expect(read(JSON.stringify(inBody), { type: 'application/json' })).toEqual({ audience: defaultAudience });
  expect(read({ ...inBody, audience: otherAudience })).toEqual({ audience: otherAudience });
  expect(read({ ...inBody, resource: otherAudience })).toEqual({ audience: otherAudience });
});

test('Basic is read as RFC 6749 encodes it, and as clients send it that do not encode', () => {
  const forms = [`${encoded(clientId)}:${encoded(secret)}`, `${clientId}:${secret}`];
  for (const credentials of forms) {
    expect(read(grant, { authorization: [basic(credentials)] })).toEqual({ audience: defaultAudience });
  }
  const authorization = [basic(forms[0] ?? '').replace('Basic', 'bASIC')];
  expect(read({ ...grant, client_id: clientId }, { authorization })).toEqual({ audience: defaultAudience });
});

test('a parameter without a value counts as left out', () => {
  expect(read({ ...inBody, scope: '', audience: '' })).toEqual({ audience: defaultAudience });
});

const wrongCredentials: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
  ['no credentials', grant, []],
  ['another secret', { ...inBody, client_secret: 'wrong' }, []],
  ['another client', { ...inBody, client_id: 'wrong' }, []],
  ['the beginning of the secret', { ...inBody, client_secret: secret.slice(0, -1) }, []],
  ['another secret by Basic', grant, [basic(`${clientId}:wrong`)]],
  ['Basic without a colon', grant, [basic(clientId)]],
  ['Basic that is not Base64', grant, ['Basic ?']],
  ['another scheme', grant, [`Bearer ${secret}`]],
];

test.for(wrongCredentials)('%s is invalid_client', ([, fields, authorization]) => {
  expect(read(fields, { authorization }).answer).toEqual({
    status: 401,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'www-authenticate': 'Basic realm="service-auth", charset="UTF-8"',
    },
    body: '{"error":"invalid_client","error_description":"The client id or the client secret is wrong."}',
  });
});

const invalid: readonly (readonly [string, string, string, string | Record<string, string>, Given?])[] = [
  ['no grant type', 'invalid_request', 'The parameter grant_type is missing.', { ...inBody, grant_type: '' }],
  ['a parameter given twice', 'invalid_request', 'A parameter is given twice.', 'grant_type=a&grant_type=b'],
  ['a body that is not JSON', 'invalid_request', 'The body is not JSON.', '{', { type: 'application/json' }],
  [
    'JSON that is no object of strings',
    'invalid_request',
    'The body must be a JSON object whose values are strings.',
    '{"grant_type":["client_credentials"]}',
    { type: 'application/json' },
  ],
  [
    'another type of body',
    'invalid_request',
    'The Content-Type must be application/x-www-form-urlencoded or application/json.',
    inBody,
    { type: 'text/plain' },
  ],
  [
    'credentials in two ways',
    'invalid_request',
    'The client must authenticate in one way only.',
    inBody,
    { authorization: [basic(`${clientId}:${secret}`)] },
  ],
  [
    'two Authorization headers',
    'invalid_request',
    'The client must authenticate in one way only.',
    grant,
    { authorization: [basic(`${clientId}:${secret}`), basic(`${clientId}:${secret}`)] },
  ],
  [
    'a client_id that is not that of Basic',
    'invalid_request',
    'The parameter client_id is not that of the Authorization header.',
    { ...grant, client_id: 'other' },
    { authorization: [basic(`${clientId}:${secret}`)] },
  ],
  [
    'another grant type',
    'unsupported_grant_type',
    'The grant_type must be client_credentials.',
    { ...inBody, grant_type: 'password' },
  ],
  ['a scope', 'invalid_scope', 'The shared token has no scopes: send no scope.', { ...inBody, scope: 'read' }],
  [
    'another audience',
    'invalid_target',
    'There are no tokens for this audience. SERVICE_AUTH_AUDIENCE lists those there are.',
    { ...inBody, audience: 'https://foreign.example/' },
  ],
  [
    'an audience and another resource',
    'invalid_target',
    'There are no tokens for this audience. SERVICE_AUTH_AUDIENCE lists those there are.',
    { ...inBody, audience: defaultAudience, resource: otherAudience },
  ],
];

test.for(invalid)('%s is %s', ([, error, description, body, given]) => {
  expect(read(body, given).answer).toEqual({
    status: 400,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' },
    body: JSON.stringify({ error, error_description: description }),
  });
});

test('names of the prototype of objects are no parameters', () => {
  expect(read('__proto__=x&constructor=y').answer?.status).toBe(400);
  expect(read('{"__proto__":{"grant_type":"client_credentials"}}', { type: 'application/json' }).answer?.status).toBe(
    400,
  );
});
