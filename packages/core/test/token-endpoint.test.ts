import { describe, expect, test } from 'vitest';
import { serviceAuthError } from '../src/errors.ts';
import type { Transport, TransportResponse } from '../src/index.ts';
import { requestToken, type TokenRequestResult } from '../src/token-endpoint.ts';
import { day, minute, second } from './support/bed.ts';
import { createHeldClock } from './support/held-clock.ts';
import { answered } from './support/scripted-endpoint.ts';

const credentials = { audience: 'orders', clientId: 'client-1', clientSecret: 'secret' };
const token = JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 86_400 });

const through = (transport: Transport): Promise<TokenRequestResult> =>
  requestToken('https://auth.example.com/oauth/token', credentials, transport, 30_000, createHeldClock());
const meaningOf = (response: TransportResponse): Promise<TokenRequestResult> => through(async () => response);

describe('the meaning of a body', () => {
  test('is a token, with warnings when its type is not stated as JSON', async () => {
    const withHeaders = (headers: Record<string, string>) => meaningOf({ status: 200, headers, body: token });
    expect(await withHeaders({ 'content-type': 'application/json' })).toMatchObject({ token: { warnings: [] } });
    expect(await withHeaders({})).toMatchObject({ token: { warnings: ['content_type'] } });
  });

  test('that is no token: one may have been issued, and the reason is kept', async () => {
    const meaning = { kind: 'ambiguous', charge: 1, status: 200, reason: 'access_token' };
    expect(await meaningOf(answered(200, '{}'))).toEqual(meaning);
  });

  test('of a refusal is not read beyond 64 KB', async () => {
    const body = `{"error":"invalid_client","x":"${'x'.repeat(65_536)}"}`;
    expect(await meaningOf(answered(401, body))).toMatchObject({ oauthError: undefined });
  });
});

describe('the meaning of a status', () => {
  test.each([200, 201, 203, 206, 299])('%i with a token is a token', async (status) => {
    expect(await meaningOf(answered(status, token))).toMatchObject({ kind: 'token', token: { value: 'abc' } });
  });

  test.each([
    [300, { kind: 'released', cause: 'misconfigured' }],
    [302, { kind: 'released', cause: 'misconfigured' }],
    [308, { kind: 'released', cause: 'misconfigured' }],
    [400, { kind: 'released', cause: 'credentials' }],
    [401, { kind: 'released', cause: 'credentials' }],
    [403, { kind: 'released', cause: 'credentials' }],
    [402, { kind: 'released', cause: 'misconfigured' }],
    [404, { kind: 'released', cause: 'misconfigured' }],
    [405, { kind: 'released', cause: 'misconfigured' }],
    [415, { kind: 'released', cause: 'misconfigured' }],
    [422, { kind: 'released', cause: 'misconfigured' }],
    [408, { kind: 'ambiguous', charge: 1 }],
    [421, { kind: 'ambiguous', charge: 2 }],
    [425, { kind: 'ambiguous', charge: 1 }],
    [500, { kind: 'ambiguous', charge: 1 }],
    [502, { kind: 'ambiguous', charge: 1 }],
    [504, { kind: 'ambiguous', charge: 1 }],
    [599, { kind: 'ambiguous', charge: 1 }],
    [999, { kind: 'ambiguous', charge: 1 }],
    [100, { kind: 'ambiguous', charge: 1 }],
    [0, { kind: 'ambiguous', charge: 1 }],
  ])('%i: %j, even with a token in the body', async (status, meaning) => {
    expect(await meaningOf(answered(status, token))).toMatchObject({ ...meaning, status });
  });

  test.each([
    ['{"error":"invalid_client","error_description":"no"}', 'invalid_client'],
    ['{"error":"Invalid Client"}', undefined],
    [`{"error":"${'a'.repeat(41)}"}`, undefined],
    ['{"error":{"code":"invalid_client"}}', undefined],
    ['{"__proto__":{"error":"invalid_client"}}', undefined],
    ['["invalid_client"]', undefined],
    ['<html>', undefined],
    ['', undefined],
  ])('of a refusal with %s only the code is kept, if it is one', async (body, oauthError) => {
    expect(await meaningOf(answered(401, body))).toEqual({
      kind: 'released',
      cause: 'credentials',
      status: 401,
      oauthError,
    });
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1);
  const date = (offsetMs: number) => new Date(now + offsetMs).toUTCString();
  const pauseOf = async (headers: Record<string, string>) => {
    const result = await meaningOf(answered(429, '', headers));
    expect(result).toMatchObject({ kind: 'released', cause: 'rate_limited' });
    return (result as { retryAfterMs?: number }).retryAfterMs;
  };
  const longest = 25 * 60 * minute;

  test.each([
    ['120', 120 * second],
    [' 7 ', 7 * second],
    ['0', second],
    ['1000000000', longest],
    ['999999999999999', longest],
    [date(5 * minute), 5 * minute],
    [date(-day), second],
    ['Fri, 01 Jan 2099 00:00:00 GMT', longest],
  ])('%j is a pause between a second and 25 hours', async (value, pauseMs) => {
    expect(await pauseOf({ 'retry-after': value })).toBe(pauseMs);
  });

  test.each([
    '',
    '-1',
    '1.5',
    'abc',
    '1e9',
    '0x10',
    '60, 120',
    '1'.repeat(16),
    'Thu, nonsense',
    'later: Fri, 01 Jan 2099 00:00:00 GMT',
    `${date(0)}, ${date(1)}`,
  ])('%j says nothing', async (value) => expect(await pauseOf({ 'retry-after': value })).toBeUndefined());

  test('that is missing says nothing', async () => {
    expect(await pauseOf({})).toBeUndefined();
  });

  test('as a date counts from the endpoint’s own clock, where it is known', async () => {
    const there = -400 * day;
    expect(await pauseOf({ 'retry-after': date(there + 10 * second), date: date(there) })).toBe(10 * second);
    expect(await pauseOf({ 'retry-after': date(10 * second), date: 'nonsense' })).toBe(10 * second);
  });
});

describe('headers', () => {
  test('may be an object with text or lists, or anything with get()', async () => {
    const rateLimited = { status: 429, body: '' };
    for (const headers of [
      { 'retry-after': '3' },
      { 'retry-after': ['3', '9'] },
      new Headers({ 'Retry-After': '3' }),
      { get: (name: string) => (name === 'retry-after' ? '3' : null) },
    ]) {
      expect(await meaningOf({ ...rateLimited, headers })).toMatchObject({ retryAfterMs: 3 * second });
    }
    expect(await meaningOf({ ...rateLimited, headers: new Headers() })).toMatchObject({ retryAfterMs: undefined });
  });
});

describe('a transport that fails', () => {
  test.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ConnectionRefused',
  ])('with %s, itself or as the cause, sent nothing', async (code) => {
    for (const error of [
      { code },
      Object.assign(new Error('x'), { code }),
      new TypeError('fetch failed', { cause: { code } }),
    ]) {
      expect(await through(() => Promise.reject(error))).toEqual({
        kind: 'released',
        cause: 'unreachable',
        error: expect.stringContaining(code),
      });
    }
  });

  test('with an error of ours about something else is judged by its cause', async () => {
    const error = serviceAuthError('ERR_CLOSED', 'closed', undefined);
    Object.defineProperty(error, 'cause', { value: { code: 'ECONNREFUSED' } });
    expect(await through(() => Promise.reject(error))).toEqual({
      kind: 'released',
      cause: 'unreachable',
      error: 'ServiceAuthError ERR_CLOSED',
    });
  });

  test('with what Deno says of an address that it could not connect to, sent nothing', async () => {
    const cause = new Error('error sending request for url (https://h/oauth/token): client error (Connect): dns error');
    for (const error of [cause, new TypeError('fetch failed', { cause })]) {
      expect(await through(() => Promise.reject(error))).toEqual({
        kind: 'released',
        cause: 'unreachable',
        error: error.name,
      });
    }
  });

  test.each([
    [
      'what Deno says of a lost connection',
      new Error('error sending request for url (https://h/): client error (SendRequest)'),
    ],
    ['a message that is no text', { message: ['): client error (Connect): '] }],
    ['a code that only ends like one', { code: 'NOT_ECONNREFUSED' }],
    ['a code in a list', { code: ['ECONNREFUSED'] }],
    ['ECONNRESET', { code: 'ECONNRESET' }],
    ['EPIPE', { code: 'EPIPE' }],
    ['a timeout after the connection', { code: 'UND_ERR_HEADERS_TIMEOUT' }],
    ['a code that only begins like one', { code: 'ECONNREFUSED_NOT' }],
    ['a code that is no text', { code: 1 }],
    ['a cause that is null', { cause: null }],
    ['an error without a code', new Error('socket hang up')],
    ['undefined', undefined],
    ['null', null],
    ['text', 'ECONNREFUSED'],
  ])('with %s may have sent something', async (_, error) => {
    expect(await through(() => Promise.reject(error))).toEqual({
      kind: 'ambiguous',
      charge: 1,
      error: expect.any(String),
    });
  });

  test('at once, rather than by a promise, is no different', async () => {
    const result = await through(() => {
      throw Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    });
    expect(result).toEqual({ kind: 'released', cause: 'unreachable', error: 'Error ECONNREFUSED' });
  });

  test.each([
    [{ name: 'postgres://user:password@host', code: 'a b' }, 'unknown error'],
    [new TypeError('password', { cause: { code: 'ENOTFOUND', message: 'password' } }), 'TypeError ENOTFOUND'],
    [new TypeError('password', { cause: 'password' }), 'TypeError'],
    [Object.defineProperty({}, 'name', { get: () => expect.unreachable() }), 'unknown error'],
  ])('is told by name and code alone', async (error, told) => {
    expect(await through(() => Promise.reject(error))).toMatchObject({ error: told });
  });

  test('because the answer was unusable says so', async () => {
    const error = serviceAuthError('ERR_TOKEN_RESPONSE', 'x', { reason: 'not_utf8', retryAt: undefined });
    expect(await through(() => Promise.reject(error))).toEqual({ kind: 'ambiguous', charge: 1, reason: 'not_utf8' });
  });

  test.each([
    ['nothing', undefined],
    ['no status', { headers: {}, body: token }],
    ['no body', { status: 200, headers: {} }],
    ['a body of bytes', { status: 200, headers: {}, body: Buffer.from(token) }],
  ])('to keep its contract, with %s, may have sent something', async (_, response) => {
    expect(await meaningOf(response as never)).toMatchObject({ kind: 'ambiguous', charge: 1 });
  });

  test('to stop at 65,536 characters is caught', async () => {
    expect(await meaningOf(answered(200, token.padEnd(65_536)))).toMatchObject({ kind: 'token' });
    expect(await meaningOf(answered(200, token.padEnd(65_537)))).toEqual({
      kind: 'ambiguous',
      charge: 1,
      status: 200,
      reason: 'too_large',
    });
  });
});

describe('the request', () => {
  test('is the documented one, with the deadline as its signal', async () => {
    const clock = createHeldClock();
    const requests: unknown[] = [];
    const never: Transport = (request) => {
      requests.push(request);
      return new Promise(() => {});
    };
    const result = requestToken('https://auth.example.com/oauth/token', credentials, never, 5_000, clock);
    await clock.advance(4_999);
    expect(requests).toEqual([
      {
        url: 'https://auth.example.com/oauth/token',
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
        body: '{"audience":"orders","grant_type":"client_credentials","client_id":"client-1","client_secret":"secret"}',
        signal: expect.objectContaining({ aborted: false }),
      },
    ]);
    await clock.advance(1);
    expect(await result).toEqual({ kind: 'ambiguous', charge: 1, error: 'TimeoutError' });
    expect(requests).toMatchObject([{ signal: { aborted: true } }]);
  });
});
