import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { serviceAuthError } from '../src/contract/errors.ts';
import { requestToken, type TokenRequestResult } from '../src/endpoint/token-endpoint.ts';
import type { Transport, TransportResponse } from '../src/index.ts';
import { second } from './support/bed.ts';
import { createManualClock } from './support/manual-clock.ts';
import { answered } from './support/scripted-endpoint.ts';
import { watchForUnhandled } from './support/unhandled.ts';
import { writtenRequest } from './support/written-request.ts';

const tokenUrl = 'https://auth.example.com/oauth/token';
const written = writtenRequest();
const token = JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 86_400 });

const through = (transport: Transport, clock = createManualClock(), timeoutMs = 30_000): Promise<TokenRequestResult> =>
  requestToken(written, { tokenUrl, transport, timeoutMs, clock });
const meaningOf = (response: TransportResponse): Promise<TokenRequestResult> => through(async () => response);

describe('the meaning of a body', () => {
  test('is a token, with warnings when its type is not stated as JSON', async () => {
    const withHeaders = (headers: Record<string, string>) => meaningOf({ status: 200, headers, body: token });
    expect(await withHeaders({ 'content-type': 'application/json' })).toMatchObject({ token: { warnings: [] } });
    expect(await withHeaders({})).toMatchObject({ token: { warnings: ['content_type'] } });
  });

  test.each([
    ['{"error":"Access Denied"}', 'other'],
    ['{"error":"invalid_scope"}', 'invalid_scope'],
    ['{"error":{"code":"invalid_scope","message":"no"}}', 'other'],
    ['{"error":7}', 'other'],
    ['{"errors":[{"message":"no"}]}', 'other'],
    ['{"errorCode":"AUTHENTICATION FAILED"}', 'other'],
    ['{"error_code":"E1"}', 'other'],
    ['{"errcode":40013,"errmsg":"invalid appid"}', 'other'],
  ])('of a 2xx answer that is %s is a refusal, and no token', async (body, oauthError) => {
    const meaning = { kind: 'released', cause: 'credentials', status: 200, oauthError };
    expect(await meaningOf(answered(200, body))).toEqual(meaning);
  });

  test.each([
    '{"error":"x","access_token":""}',
    '{"error":{"code":"x"},"data":{"access_token":"abc"}}',
    '{"errorCode":"x","accessToken":"abc"}',
    '{"error":null}',
    '{"error":""}',
    '{"errors":[]}',
    '{"errcode":0}',
    '{"errorCode":"0"}',
    '{"error_description":"x"}',
    '{"terror":"x"}',
  ])('%s is neither a refusal nor a token', async (body) => {
    expect(await meaningOf(answered(200, body))).toMatchObject({ kind: 'ambiguous', reason: 'access_token' });
  });

  test.each([
    [400, '<html>', 'misconfigured'],
    [403, '', 'misconfigured'],
    [400, '{"name":"ANOTHER_NAME"}', 'credentials'],
    [401, '<html>', 'credentials'],
  ])('of a %i that is %s belongs to: %s', async (status, body, cause) => {
    expect(await meaningOf(answered(status, body))).toMatchObject({ kind: 'released', cause, status });
  });

  test('that is no token: one may have been issued, and the reason is kept', async () => {
    const meaning = { kind: 'ambiguous', status: 200, reason: 'access_token' };
    expect(await meaningOf(answered(200, '{}'))).toEqual(meaning);
  });

  test('of an error answer is not read beyond 64 KB', async () => {
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
    [408, { kind: 'ambiguous' }],
    [421, { kind: 'released', cause: 'misconfigured' }],
    [425, { kind: 'ambiguous' }],
    [500, { kind: 'ambiguous' }],
    [502, { kind: 'ambiguous' }],
    [504, { kind: 'ambiguous' }],
    [599, { kind: 'ambiguous' }],
    [999, { kind: 'ambiguous' }],
    [100, { kind: 'ambiguous' }],
    [0, { kind: 'ambiguous' }],
  ])('%i: %j, even with a token in the body', async (status, meaning) => {
    expect(await meaningOf(answered(status, token))).toMatchObject({ ...meaning, status });
  });

  test.each([
    ['{"error":"invalid_client","error_description":"no"}', 'invalid_client'],
    ['{"error":"invalid_target"}', 'invalid_target'],
    ['{"error":"Invalid Client"}', 'other'],
    ['{"error":"INVALID_CLIENT"}', 'other'],
    ['{"error":" invalid_client"}', 'other'],
    ['{"error":"correct_horse_battery_staple"}', 'other'],
    ['{"error":"other"}', 'other'],
    ['{"error":"constructor"}', 'other'],
    ['{"error":""}', 'other'],
    [`{"error":"${'a'.repeat(41)}"}`, 'other'],
    ['{"error":{"code":"invalid_client"}}', 'other'],
    ['{"error":["invalid_client"]}', 'other'],
    ['{"__proto__":{"error":"invalid_client"}}', 'other'],
    ['{}', 'other'],
    ['["invalid_client"]', undefined],
    ['<html>', undefined],
    ['', undefined],
  ])('of an error answer with %s only a registered code is kept', async (body, oauthError) => {
    expect(await meaningOf(answered(401, body))).toEqual({
      kind: 'released',
      cause: 'credentials',
      status: 401,
      oauthError,
    });
  });
});

describe('an answer whose status is no status', () => {
  test.each(['200', '503', -1, 1_000, Number.NaN, undefined, Symbol('200'), Object.create(null)] as const)(
    '%s: a token is counted, and nothing ends the process if its body fails later',
    async (status) => {
      const unhandled = watchForUnhandled();
      let cut = () => {};
      const body = new Promise<string>((_, reject) => {
        cut = () => reject(new Error('the connection was cut'));
      });
      const result = meaningOf({ status: status as number, headers: {}, body });
      await setImmediate();
      cut();
      expect(await result).toMatchObject({ kind: 'ambiguous', error: expect.any(String) });
      expect(await unhandled()).toEqual([]);
    },
  );

  test.each(['200', 1_000])('%s: the error says so', async (status) => {
    const error = 'TypeError INVALID_STATUS';
    const response = answered(status as number, token);
    expect(await meaningOf(response)).toEqual({ kind: 'ambiguous', error });
  });
});

describe('the body of an error answer', () => {
  const never = new Promise<string>(() => {});
  const invalidClient = '{"error":"invalid_client"}';
  const released = (cause: string, fields: object = {}) => ({ kind: 'released', cause, ...fields });

  test.each([
    [400, {}, released('misconfigured', { status: 400 })],
    [401, {}, released('credentials', { status: 401 })],
    [403, {}, released('misconfigured', { status: 403 })],
    [404, {}, released('misconfigured', { status: 404 })],
    [302, {}, released('misconfigured', { status: 302 })],
    [429, { 'retry-after': '3600' }, released('rate_limited', { status: 429, retryAfterMs: 3_600 * second })],
    [400, { 'retry-after': '3600' }, released('rate_limited', { status: 400, retryAfterMs: 3_600 * second })],
    [503, {}, { kind: 'ambiguous', status: 503 }],
    [503, { 'retry-after': '3600' }, { kind: 'ambiguous', status: 503, retryAfterMs: 3_600 * second }],
    [500, { 'retry-after': '3600' }, { kind: 'ambiguous', status: 500, retryAfterMs: 3_600 * second }],
  ])('of %i is awaited for two seconds, then the status stands', async (status, headers, meaning) => {
    const clock = createManualClock();
    let signal: AbortSignal | undefined;
    let result: TokenRequestResult | undefined;
    const transport: Transport = async (request) => {
      signal = request.signal;
      return { status, headers, body: never };
    };
    const done = through(transport, clock).then((value) => {
      result = value;
    });
    await clock.advance(1_999);
    expect([result, signal?.aborted]).toEqual([undefined, false]);
    await clock.advance(1);
    await done;
    expect(result).toEqual(meaning);
    // The connection is given up with it.
    expect(signal?.aborted).toBe(true);
    expect(clock.timers.all).toBe(0);
  });

  test('is not awaited beyond the deadline of the request, and the status still counts', async () => {
    const clock = createManualClock();
    const transport: Transport = async () => ({ status: 429, headers: { 'retry-after': '60' }, body: never });
    const result = through(transport, clock, 300);
    await clock.advance(300);
    expect(await result).toEqual(released('rate_limited', { status: 429, retryAfterMs: 60 * second }));
  });

  test('that never comes changes nothing either if the headers cannot be read', async () => {
    const clock = createManualClock();
    const headers = {
      get 'retry-after'(): string {
        throw new TypeError('secret=hunter2');
      },
    };
    const result = through(async () => ({ status: 429, headers, body: never }), clock, 300);
    await clock.advance(300);
    expect(JSON.stringify(await result)).not.toContain('hunter2');
  });

  test('is read if it comes in time', async () => {
    const clock = createManualClock();
    let arrive: (body: string) => void = () => {};
    const body = new Promise<string>((resolve) => {
      arrive = resolve;
    });
    const result = through(async () => ({ status: 401, headers: {}, body }), clock);
    await clock.advance(1_999);
    arrive(invalidClient);
    expect(await result).toMatchObject({ status: 401, oauthError: 'invalid_client' });
    expect(clock.timers.all).toBe(0);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('reset'))],
    ['is missing', () => undefined],
    ['is no text', () => Buffer.from(invalidClient)],
  ])('that %s changes nothing', async (_, body) => {
    const response = { status: 401, headers: {}, body: body() } as unknown as TransportResponse;
    expect(await meaningOf(response)).toMatchObject(released('credentials', { status: 401 }));
  });

  test('of a success that never ends may have been a token', async () => {
    const clock = createManualClock();
    const result = through(async () => ({ status: 200, headers: {}, body: never }), clock);
    await clock.advance(2_000);
    expect(clock.timers.all).toBe(1);
    await clock.advance(28_000);
    expect(await result).toEqual({ kind: 'ambiguous', error: 'TimeoutError' });
  });

  test('of a success may come late', async () => {
    expect(await meaningOf({ ...answered(200), body: Promise.resolve(token) })).toMatchObject({ kind: 'token' });
  });

  test('without headers says no Retry-After', async () => {
    const response = { status: 429, body: '' } as unknown as TransportResponse;
    expect(await meaningOf(response)).toEqual(released('rate_limited', { status: 429 }));
  });
});

describe('headers', () => {
  test('may be an object with text or lists, or anything with get()', async () => {
    const rateLimited = { status: 429, body: '' };
    for (const headers of [
      { 'retry-after': '3' },
      { 'retry-after': ['3', '2'] },
      new Headers({ 'Retry-After': '3' }),
      { get: (name: string) => (name === 'retry-after' ? '3' : null) },
    ]) {
      expect(await meaningOf({ ...rateLimited, headers })).toMatchObject({ retryAfterMs: 3 * second });
    }
    expect(await meaningOf({ ...rateLimited, headers: new Headers() })).toMatchObject({ retryAfterMs: undefined });
  });
});

describe('a transport that fails', () => {
  const refused = { code: 'ECONNREFUSED', syscall: 'connect' };
  const unsent = (error: unknown) => ({ kind: 'released', cause: 'unreachable', error });
  const counted = { kind: 'ambiguous', error: expect.any(String) };
  const failed = (fields: object, message = 'x') => Object.assign(new Error(message), fields);

  test.each([
    refused,
    { code: 'ENOTFOUND', syscall: 'getaddrinfo' },
    { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
    { code: 'ENOTFOUND', syscall: 'queryA' },
    { code: 'EHOSTUNREACH', syscall: 'connect' },
    { code: 'ENETUNREACH', syscall: 'connect' },
    { code: 'ETIMEDOUT', syscall: 'connect' },
    { code: 'ECONNRESET', syscall: 'connect' },
    { code: 'UND_ERR_CONNECT_TIMEOUT' },
    { code: 'UND_ERR_PRX_TLS' },
    { code: 'ERR_PROXY_TUNNEL', statusCode: 407 },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
    { code: 'CERT_HAS_EXPIRED' },
    { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    { code: 'ERR_ACCESS_DENIED', syscall: 'connect' },
    { code: 'ConnectionRefused' },
  ])(
    'before there was a connection (%j), itself, as a cause or as the cause of a cause, sent nothing',
    async (fields) => {
      const code = expect.stringContaining(fields.code);
      for (const error of [fields, failed(fields), new TypeError('fetch failed', { cause: fields })]) {
        expect(await through(() => Promise.reject(error))).toEqual(unsent(code));
      }
      const deep = new Error('x', { cause: new Error('y', { cause: failed(fields) }) });
      expect(await through(() => Promise.reject(deep))).toEqual(unsent('Error'));
    },
  );

  test.each([
    ['ECONNRESET', 'Client network socket disconnected before secure TLS connection was established'],
    [undefined, 'error sending request for url (https://h/oauth/token): client error (Connect): dns error'],
    ['ECONNREFUSED', 'ECONNREFUSED: Unable to connect. Is the computer able to access the url?'],
    ['ENETUNREACH', 'ENETUNREACH: Was there a typo in the url or port?'],
    ['UND_ERR_ABORTED', 'Proxy response (407) !== 200 when HTTP Tunneling'],
    [undefined, 'bad port'],
    [undefined, 'Fetch failed: Requests to port 6000 are blocked'],
  ])('with what runtimes say of a connection that was never made (%s, %j) sent nothing', async (code, message) => {
    const cause = failed(code === undefined ? {} : { code }, message);
    for (const error of [cause, new TypeError('fetch failed', { cause })]) {
      expect(await through(() => Promise.reject(error))).toEqual(unsent(expect.any(String)));
    }
  });

  test('for lack of permission to use the network sent nothing', async () => {
    const error = failed(
      { name: 'NotCapable' },
      'Requires net access to "127.0.0.1:1", run again with the --allow-net flag',
    );
    expect(await through(() => Promise.reject(error))).toEqual(unsent('NotCapable'));
    const other = failed({ name: 'NotCapable' }, 'Requires read access to "/etc/passwd"');
    expect(await through(() => Promise.reject(other))).toEqual(counted);
    const files = failed({ code: 'ERR_ACCESS_DENIED', syscall: 'open' });
    expect(await through(() => Promise.reject(files))).toEqual(counted);
  });

  test('at every address of a name sent nothing; at one of them after it was connected, it may have', async () => {
    const aggregate = (...errors: unknown[]) => Object.assign(new AggregateError(errors, 'x'), refused);
    const cases: [unknown, object][] = [
      [aggregate(failed(refused), failed({ ...refused, code: 'ENETUNREACH' })), unsent(expect.any(String))],
      [aggregate(failed(refused), failed({ ...refused, syscall: 'read' })), counted],
      [aggregate(failed(refused), undefined), counted],
      [aggregate(aggregate(failed(refused))), unsent(expect.any(String))],
    ];
    for (const [error, meaning] of cases) {
      for (const thrown of [error, new TypeError('fetch failed', { cause: error })]) {
        expect(await through(() => Promise.reject(thrown))).toEqual(meaning);
      }
    }
  });

  test('on a connection may have sent something, even if its cause is that another connection was refused', async () => {
    const error = Object.assign(new Error('x', { cause: failed(refused) }), { code: 'ECONNRESET', syscall: 'read' });
    for (const thrown of [error, new TypeError('fetch failed', { cause: error })]) {
      expect(await through(() => Promise.reject(thrown))).toEqual(counted);
    }
  });

  test('with a code in the class of the error, as Bun has it, sent nothing', async () => {
    class ProxyError extends Error {}
    Object.assign(ProxyError.prototype, { code: 'ERR_PROXY_TUNNEL' });
    const error = new TypeError('fetch failed', { cause: new ProxyError('x') });
    expect(await through(() => Promise.reject(error))).toEqual(unsent(expect.any(String)));
  });

  test('with an error that cannot be inspected may have sent something', async () => {
    const refuse = () => expect.unreachable();
    const closed = new Proxy(
      {},
      { get: refuse, has: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
    );
    expect(await through(() => Promise.reject(closed))).toEqual(counted);
  });

  test('with errors that contain each other may have sent something', async () => {
    const first = new Error('x');
    Object.assign(first, { cause: new Error('y', { cause: first }) });
    expect(await through(() => Promise.reject(first))).toEqual(counted);
    const many = new AggregateError([], 'x');
    many.errors.push(many, many, many);
    expect(await through(() => Promise.reject(many))).toEqual(counted);
  });

  test('with an error of another realm is judged alike', async () => {
    const foreign = (fields: string) => runInNewContext(`Object.assign(new Error('x'), ${fields})`);
    expect(await through(() => Promise.reject(foreign(JSON.stringify(refused))))).toEqual(unsent('Error ECONNREFUSED'));
    const all = foreign(`{ errors: [Object.assign(new Error('y'), ${JSON.stringify(refused)})] }`);
    expect(await through(() => Promise.reject(all))).toEqual(unsent('Error'));
    const read = JSON.stringify({ ...refused, syscall: 'read' });
    expect(await through(() => Promise.reject(foreign(read)))).toEqual(counted);
  });

  test('with an error of ours about something else is judged by its cause', async () => {
    const error = serviceAuthError('ERR_CLOSED', 'closed', undefined);
    Object.defineProperty(error, 'cause', { value: refused });
    expect(await through(() => Promise.reject(error))).toEqual(unsent('ServiceAuthError ERR_CLOSED'));
  });

  // Linux also reports these for an established connection when the retransmissions of a request fail.
  describe.each(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ECONNREFUSED', 'ETIMEDOUT'])('with %s', (code) => {
    test.each(['read', 'write', 'shutdown', undefined])('from %s may have sent something', async (syscall) => {
      const fields = syscall === undefined ? { code } : { code, syscall };
      for (const error of [failed(fields), new TypeError('fetch failed', { cause: failed(fields, `read ${code}`) })]) {
        expect(await through(() => Promise.reject(error))).toEqual(counted);
      }
    });
  });

  test.each([
    [
      'what Deno says of a lost connection',
      failed({}, 'error sending request for url (https://h/): client error (SendRequest)'),
    ],
    [
      'what Bun says of a lost connection',
      failed({ code: 'ECONNRESET' }, 'ECONNRESET: The socket connection was closed unexpectedly.'),
    ],
    [
      'what Bun says of TLS that broke',
      failed({ code: 'EPROTO' }, 'EPROTO: The TLS handshake failed. Does the server speak TLS on this port?'),
    ],
    ['TLS that broke', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }],
    ['an alert of TLS', { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }],
    ['EPROTO', { code: 'EPROTO', syscall: 'write' }],
    ['TLS whose renegotiation failed', { code: 'ERR_TLS_RENEGOTIATION_DISABLED' }],
    ['a message that is no text', { message: ['): client error (Connect): '] }],
    ['a system call that only ends like one', { syscall: 'disconnect' }],
    ['a system call that only begins like one', { syscall: 'connected' }],
    ['a system call in a list', { syscall: ['connect'] }],
    ['a message that quotes one', failed({}, 'no: bad port')],
    ['ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }],
    ['EPIPE', { code: 'EPIPE', syscall: 'write' }],
    ['a timeout after the connection', { code: 'UND_ERR_HEADERS_TIMEOUT' }],
    ['a code that only begins like one', { code: 'CERT_HAS_EXPIRED-NOT' }],
    ['a code that is no text', { code: 1 }],
    ['no errors', { errors: [] }],
    ['a cause that is null', { cause: null }],
    ['an error without a code', new Error('socket hang up')],
    ['undefined', undefined],
    ['null', null],
    ['text', 'ECONNREFUSED'],
  ])('with %s may have sent something', async (_, error) => {
    expect(await through(() => Promise.reject(error))).toEqual(counted);
  });

  test('at once, rather than by a promise, is no different', async () => {
    const result = await through(() => {
      throw failed(refused);
    });
    expect(result).toEqual(unsent('Error ECONNREFUSED'));
  });

  test.each([
    [{ name: 'postgres://user:password@host', code: 'a b' }, 'unknown error'],
    [new TypeError('password', { cause: { code: 'ENOTFOUND', message: 'password' } }), 'TypeError ENOTFOUND'],
    [new TypeError('password', { cause: 'password' }), 'TypeError'],
    [Object.defineProperty({}, 'name', { get: () => expect.unreachable() }), 'unknown error'],
    [Object.assign(new Error('password'), { digest: 'password' }), 'Error'],
    [new Error('password. During prerendering, password. '), 'Error'],
  ])('is told by name and code alone', async (error, told) => {
    expect(await through(() => Promise.reject(error))).toMatchObject({ error: told });
  });

  test.each([
    [Object.assign(new Error('password'), { digest: 'HANGING_PROMISE_REJECTION' }), 'Error HANGING_PROMISE_REJECTION'],
    [Object.assign(new Error('password'), { digest: '2871345' }), 'Error 2871345'],
    [
      new TypeError('fetch failed', { cause: new Error('During prerendering, `fetch()` rejects. At route "/x".') }),
      'TypeError During prerendering, `fetch()` rejects.',
    ],
  ])('of a framework is told with the words that help', async (error, told) => {
    expect(await through(() => Promise.reject(error))).toMatchObject({ error: told });
  });

  test('because the answer was unusable says so', async () => {
    const error = serviceAuthError('ERR_TOKEN_RESPONSE', 'x', { reason: 'not_utf8', retryAt: undefined });
    expect(await through(() => Promise.reject(error))).toEqual({ kind: 'ambiguous', reason: 'not_utf8' });
  });

  test.each([
    ['nothing', undefined],
    ['no status', { headers: {}, body: token }],
    ['no body', { status: 200, headers: {} }],
    ['a body of bytes', { status: 200, headers: {}, body: Buffer.from(token) }],
  ])('to keep its contract, with %s, may have sent something', async (_, response) => {
    expect(await meaningOf(response as never)).toMatchObject({ kind: 'ambiguous' });
  });

  test('to stop at 65,536 characters is caught', async () => {
    expect(await meaningOf(answered(200, token.padEnd(65_536)))).toMatchObject({ kind: 'token' });
    expect(await meaningOf(answered(200, token.padEnd(65_537)))).toEqual({
      kind: 'ambiguous',
      status: 200,
      reason: 'too_large',
    });
  });
});

describe('the request', () => {
  test('is the documented one, with the deadline as its signal', async () => {
    const clock = createManualClock();
    const requests: unknown[] = [];
    const never: Transport = (request) => {
      requests.push(request);
      return new Promise(() => {});
    };
    const result = requestToken(written, { tokenUrl, transport: never, timeoutMs: 5_000, clock });
    await clock.advance(4_999);
    expect(requests).toEqual([
      {
        url: 'https://auth.example.com/oauth/token',
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
        body: '{"audience":"orders","grant_type":"client_credentials","client_id":"client \\"1\\"","client_secret":"secret"}',
        signal: expect.objectContaining({ aborted: false }),
      },
    ]);
    await clock.advance(1);
    expect(await result).toEqual({ kind: 'ambiguous', error: 'TimeoutError' });
    expect(requests).toMatchObject([{ signal: { aborted: true } }]);
  });
});
