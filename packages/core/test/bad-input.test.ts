import { describe, expect, test } from 'vitest';
import { readTokenResponse } from '../src/endpoint/token-response.ts';
import { createServiceAuth, memoryStore } from '../src/index.ts';
import { decodeRecord, encodeRecord } from '../src/ledger/codec.ts';
import type { LedgerRecord } from '../src/ledger/record.ts';
import { type Bed, createBed, day, failure, hour, minute, second } from './support/bed.ts';
import { secretCanary, tokenCanary } from './support/canaries.ts';
import { startServer, startSocketServer } from './support/loopback.ts';
import { settled } from './support/manual-clock.ts';
import { answering, failing, gated } from './support/scripted-endpoint.ts';

// Each case of bad input, by number. What one case needs in depth is tested next to its source; here is what a user gets.

const usual = { access_token: `${tokenCanary}.x`, token_type: 'Bearer', expires_in: 86_400 };

/** An unsigned JWT with this payload. */
const jwt = (payload: string) => `e30.${btoa(payload).replace(/=+$/, '')}.c2ln`;

/** The first token that a client gets when the endpoint answers with this body. */
async function accepted(body: string | object, headers: Record<string, string> = {}, status = 200) {
  const bed = createBed();
  bed.endpoint.next(answering(status, typeof body === 'string' ? body : JSON.stringify(body), headers));
  const token = await bed.token(bed.client());
  expect(bed.endpoint.requests.length).toBe(1);
  const [issued] = bed.eventsOf('token_issued');
  return { ...bed, token, lifetime: (token.expiresAt - token.issuedAt) / second, warnings: issued?.warnings };
}

/** A rejected answer: its reason, the slot stays charged, and the next attempt is paced. */
async function rejected(body: string | object, headers: Record<string, string> = {}, status = 200) {
  const bed = createBed();
  bed.endpoint.next(answering(status, typeof body === 'string' ? body : JSON.stringify(body), headers));
  const auth = bed.client();
  const error = await failure('ERR_TOKEN_RESPONSE', bed.clock.until(auth.getToken()));
  expect(error.retryAt).toBe(bed.clock.now() + second);
  await failure('ERR_TOKEN_RESPONSE', bed.clock.until(auth.getToken()));
  expect(bed.endpoint.requests.length).toBe(1);
  expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
  return error.reason;
}

/** The result of a whole client for an answer over a real socket. */
const overSockets = (bed: Bed, url: string) =>
  bed.client({ authUrl: url.replace('/oauth/token', ''), transport: undefined });

describe('bad input: lifetimes', () => {
  test('1: expires_in as digits in a string is accepted', async () => {
    expect(await accepted({ ...usual, expires_in: '86400' })).toMatchObject({ lifetime: 86_400, warnings: [] });
  });

  test('2: expires_in missing is taken from the JWT, or assumed to be a day', async () => {
    const { expires_in, ...without } = usual;
    expect(expires_in).toBe(86_400);
    expect(await accepted(without)).toMatchObject({ lifetime: 86_400, warnings: ['lifetime_assumed'] });
    const withClaims = (claims: object) => accepted({ ...without, access_token: jwt(JSON.stringify(claims)) });
    expect(await withClaims({ iat: 1_000, exp: 8_200 })).toMatchObject({ lifetime: 7_200, warnings: [] });
    for (const claims of [
      { exp: 8_200 },
      { iat: 1_000, exp: 1_059 },
      { iat: 0, exp: 2_678_401 },
      { iat: 9, exp: 'x' },
      {},
    ]) {
      expect(await withClaims(claims)).toMatchObject({ lifetime: 86_400, warnings: ['lifetime_assumed'] });
    }
    expect(await withClaims({ iat: 0, exp: 2_678_400 })).toMatchObject({ lifetime: 2_678_400, warnings: [] });
  });

  test('2: the shorter of expires_in and the JWT’s own lifetime counts', async () => {
    const access_token = jwt('{"iat":1000,"exp":4600}');
    expect(await accepted({ ...usual, access_token })).toMatchObject({ lifetime: 3_600 });
    expect(await accepted({ ...usual, access_token, expires_in: 1_800 })).toMatchObject({ lifetime: 1_800 });
  });

  test.each(['0', '-1', '-0', '0.9', '-86400', '"0"'])(
    '3: expires_in %s is rejected, kept and paced',
    async (value) => {
      expect(await rejected(JSON.stringify(usual).replace('86400', value))).toBe('expires_in');
    },
  );

  test.each(['1e400', '"0x15180"', '"86400s"', 'true', '[86400]', '{}', 'null', '""', '"1234567890"'])(
    '4: expires_in %s counts as missing',
    async (value) => {
      const body = JSON.stringify(usual).replace('86400', value);
      expect(await accepted(body)).toMatchObject({ lifetime: 86_400, warnings: ['lifetime_assumed'] });
    },
  );

  test('4: fractions of seconds are cut off, and what is no JSON is not read', async () => {
    expect(await accepted({ ...usual, expires_in: 100.9 })).toMatchObject({ lifetime: 100 });
    expect(await rejected(JSON.stringify(usual).replace('86400', 'NaN'))).toBe('not_json');
  });

  test('5: expires_in 9e15 is cut to 31 days', async () => {
    expect(await accepted({ ...usual, expires_in: 9e15 })).toMatchObject({
      lifetime: 31 * 86_400,
      warnings: ['lifetime_clamped'],
    });
  });

  test('6: expires_in 30 serves those who wait, is not renewed ahead, and causes no loop', async () => {
    const { clock, endpoint, token, warnings, ...bed } = await accepted({ ...usual, expires_in: 30 });
    expect(warnings).toEqual(['lifetime_short']);
    const auth = bed.client();
    for (let elapsed = 0; elapsed < 26; elapsed++) {
      expect((await clock.until(auth.getToken())).value).toBe(token.value);
      await clock.advance(second);
    }
    expect(endpoint.requests.length).toBe(1);
  });

  test('7: the same token again with a smaller expires_in is kept, and not asked for again before the margin', async () => {
    const bed = createBed();
    const auth = bed.client();
    bed.endpoint.next(answering(200, JSON.stringify(usual)));
    const first = await bed.token(auth);
    bed.endpoint.otherwise(answering(200, JSON.stringify({ ...usual, expires_in: 60 })));
    await bed.clock.advance(0.9 * day);
    expect(await bed.use(auth, 2 * hour, minute)).toEqual([first]);
    expect(bed.endpoint.requests.length).toBe(2);
  });
});

describe('bad input: tokens', () => {
  test.each(['v^1.1#i^1#p^1', '00Dxx!AQ.x', 'a=b', '=', 'a"b', 'a,b', '!~'])(
    '8: a token like %j is opaque, and a header can carry it',
    async (access_token) => {
      const { token } = await accepted({ ...usual, access_token });
      expect(token.authorization).toBe(`Bearer ${access_token}`);
      expect(new Headers({ authorization: token.authorization }).get('authorization')).toBe(`Bearer ${access_token}`);
    },
  );

  test.each(['a\r\nb', 'a\0b', 'a\tb', 'a b', ' a', 'a\n', 'a😀', 'a\u2028b', 'ä'])(
    '8: a token like %j is rejected before any header could carry it',
    async (text) => expect(await rejected({ ...usual, access_token: `${text}${tokenCanary}` })).toBe('access_token'),
  );

  test.each(['""', 'null', '1', '["a"]', '{"a":1}', 'true'])('9: access_token %s is rejected', async (value) => {
    expect(await rejected(`{"access_token":${value},"token_type":"Bearer","expires_in":86400}`)).toBe('access_token');
  });

  test('9: access_token missing is rejected', async () => {
    expect(await rejected({ token_type: 'Bearer', expires_in: 86_400 })).toBe('access_token');
  });

  test('10: a token of 16,384 characters is accepted, a longer one is not', async () => {
    expect((await accepted({ ...usual, access_token: 'x'.repeat(16_384) })).token.value).toHaveLength(16_384);
    expect(await rejected({ ...usual, access_token: 'x'.repeat(16_385) })).toBe('access_token');
  });

  test('10: a body of more than 65,536 bytes is rejected, and not read any further', async () => {
    const bed = createBed();
    const { url } = await startServer((response) => response.end('x'.repeat(65_537)));
    expect(await failure('ERR_TOKEN_RESPONSE', overSockets(bed, url).getToken())).toMatchObject({
      reason: 'too_large',
    });
    expect(await rejected(JSON.stringify(usual).padEnd(65_537))).toBe('too_large');
  });

  test.each(['bearer', 'BEARER', 'BeArEr'])('11: token_type %s is accepted, and sent as Bearer', async (token_type) => {
    expect((await accepted({ ...usual, token_type })).token.authorization).toBe(`Bearer ${usual.access_token}`);
  });

  test.each(['"DPoP"', '"mac"', '""', 'null', '["Bearer"]', '1'])('12: token_type %s is rejected', async (value) => {
    expect(await rejected(JSON.stringify(usual).replace('"Bearer"', value))).toBe('token_type');
  });

  test('13: token_type missing is accepted and reported', async () => {
    const { token_type, ...without } = usual;
    expect(token_type).toBe('Bearer');
    expect(await accepted(without)).toMatchObject({ warnings: ['token_type_missing'] });
  });

  test('14: what a prototype adds is not there', async () => {
    expect(await rejected(`{"__proto__":${JSON.stringify(usual)}}`)).toBe('access_token');
    expect(await rejected(`{"constructor":{"prototype":${JSON.stringify(usual)}}}`)).toBe('access_token');
    try {
      for (const [name, value] of Object.entries(usual)) Reflect.set(Object.prototype, name, value);
      expect(await rejected('{}')).toBe('access_token');
    } finally {
      for (const name of Object.keys(usual)) Reflect.deleteProperty(Object.prototype, name);
    }
  });

  test('15: of fields that come twice the last one counts', async () => {
    const body = JSON.stringify(usual).replace('}', ',"expires_in":30}');
    expect(await accepted(body)).toMatchObject({ lifetime: 30, warnings: ['lifetime_short'] });
  });
});

describe('bad input: answers', () => {
  test('16: the page of a captive portal is rejected, without a word of it in the error', async () => {
    const page = `<html><body>${secretCanary}</body></html>`;
    expect(await rejected(page, { 'content-type': 'text/html' })).toBe('not_json');
  });

  test.each(['text/plain', 'application/jsonp', ''])('17: JSON as %j is accepted and reported', async (contentType) => {
    expect(await accepted(usual, { 'content-type': contentType })).toMatchObject({ warnings: ['content_type'] });
  });

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.example+json'])(
    '17: JSON as %j is accepted',
    async (contentType) =>
      expect(await accepted(usual, { 'content-type': contentType })).toMatchObject({ warnings: [] }),
  );

  test('18: a byte order mark is removed, other encodings are rejected', async () => {
    expect(await accepted(`\uFEFF${JSON.stringify(usual)}`)).toMatchObject({ warnings: [] });
    const bed = createBed();
    const { url } = await startServer((response) =>
      response.end(Buffer.from(`\uFEFF${JSON.stringify(usual)}`, 'utf16le')),
    );
    expect(await failure('ERR_TOKEN_RESPONSE', overSockets(bed, url).getToken())).toMatchObject({ reason: 'not_utf8' });
  });

  test.each([
    ['is truncated', 'HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"access_token":'],
    ['has the wrong length', `HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${JSON.stringify(usual)}`],
    ['is empty', ''],
  ])('19: an answer that %s may have been a token: kept', async (_, answer) => {
    const bed = createBed();
    const { url } = await startSocketServer((socket) => socket.end(answer));
    const auth = overSockets(bed, url);
    expect(await failure('ERR_TOKEN_ENDPOINT', auth.getToken())).toMatchObject({
      ambiguous: true,
      endpointStatus: undefined,
    });
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
  });

  test('19: a connection that is reset in the body may have been a token: kept', async () => {
    const bed = createBed();
    const { url } = await startSocketServer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"a', () => socket.resetAndDestroy()),
    );
    const auth = overSockets(bed, url);
    expect(await failure('ERR_TOKEN_ENDPOINT', auth.getToken())).toMatchObject({ ambiguous: true });
    expect(await auth.getUsage()).toMatchObject({ used: 1, pending: 1 });
  });

  test('20: a gzip bomb is cut off where 64 KB have been unpacked', async () => {
    const { gzipSync } = await import('node:zlib');
    const bed = createBed();
    const bomb = gzipSync(Buffer.alloc(50 * 1_024 * 1_024));
    const { url } = await startServer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect(await failure('ERR_TOKEN_RESPONSE', overSockets(bed, url).getToken())).toMatchObject({
      reason: 'too_large',
    });
  });

  test.each([
    ['a drip of bytes', (write: (text: string) => void) => write('x')],
    ['headers that never end', (write: (text: string) => void) => write('x-more: y\r\n')],
  ])('21: %s ends at the deadline, and may have been a token', async (_, drip) => {
    const bed = createBed();
    let connected = (_write: (text: string) => void) => {};
    const connection = new Promise<(text: string) => void>((resolve) => {
      connected = resolve;
    });
    const { url } = await startSocketServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      connected((text) => void socket.write(text));
    });
    const attempt = failure('ERR_TOKEN_ENDPOINT', overSockets(bed, url).getToken());
    const write = await connection;
    for (let elapsed = 0; elapsed < 30; elapsed++) {
      drip(write);
      await bed.clock.advance(second);
    }
    expect(await bed.clock.until(attempt)).toMatchObject({ ambiguous: true });
  });

  test('21: 100 KB of headers are refused, and may have been a token', async () => {
    const bed = createBed();
    const { url } = await startSocketServer((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${`x-more: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`),
    );
    expect(await failure('ERR_TOKEN_ENDPOINT', overSockets(bed, url).getToken())).toMatchObject({ ambiguous: true });
  });

  test.each([301, 302, 303, 307, 308])(
    '22: a redirect with %i is released, and nothing arrives elsewhere',
    async (status) => {
      const bed = createBed();
      const elsewhere = await startServer((response) => response.end());
      for (const location of [elsewhere.url, elsewhere.url.replace('http', 'https'), '/oauth/token']) {
        const { url, bodies } = await startServer((response) => response.writeHead(status, { location }).end());
        const auth = overSockets(bed, url);
        const error = await failure('ERR_TOKEN_ENDPOINT', auth.getToken());
        expect(error).toMatchObject({
          endpointStatus: status,
          ambiguous: false,
          retryAt: bed.clock.now() + 5 * minute,
        });
        expect(await auth.getUsage()).toMatchObject({ used: 0 });
        expect([bodies.length, elsewhere.bodies.length]).toEqual([1, 0]);
      }
    },
  );

  test('23: an error that echoes the secret and controls the terminal is reduced to its code', async () => {
    const bed = createBed();
    const description = `\u001b[31m\r\n${secretCanary}`;
    bed.endpoint.otherwise(answering(400, JSON.stringify({ error: 'invalid_client', error_description: description })));
    const auth = bed.client();
    const error = await failure('ERR_CREDENTIALS_REJECTED', auth.getToken());
    expect(error).toMatchObject({
      endpointStatus: 400,
      oauthError: 'invalid_client',
      retryAt: bed.clock.now() + 5 * minute,
    });
    expect(/[\p{Cc}]/u.test(error.message)).toBe(false);
    expect(await auth.getUsage()).toMatchObject({ used: 0 });
    expect(await bed.store.text()).not.toContain('[31m');
    await failure('ERR_CREDENTIALS_REJECTED', auth.getToken());
    expect(bed.endpoint.requests.length).toBe(1);
  });

  test.each([
    ['-1', 15 * minute],
    ['abc', 15 * minute],
    ['1e9', 15 * minute],
    ['0', second],
    ['315360000', 25 * hour],
    ['1000000000', 25 * hour],
    ['Thu, 01 Jan 1970 00:00:00 GMT', second],
    ['Thu, 01 Jan 2099 00:00:00 GMT', 25 * hour],
    ['10; 20', 15 * minute],
    ['10, 20', 20 * second],
  ])('24: 429 with Retry-After %j causes a pause between a second and 25 hours', async (value, pauseMs) => {
    const bed = createBed();
    bed.endpoint.next(answering(429, '', { 'retry-after': value, date: 'Thu, 01 Jan 2026 00:00:00 GMT' }));
    const auth = bed.client();
    expect((await failure('ERR_RATE_LIMITED', auth.getToken())).retryAt).toBe(bed.clock.now() + pauseMs);
    expect(await auth.getUsage()).toMatchObject({ used: 0 });
  });

  test('24: every 429 without a usable Retry-After causes a pause of 15 minutes', async () => {
    const bed = createBed();
    bed.endpoint.otherwise(answering(429));
    const auth = bed.client();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const { retryAt } = await failure('ERR_RATE_LIMITED', bed.clock.until(auth.getToken()));
      pauses.push((retryAt - bed.clock.now()) / minute);
      await bed.clock.advance(retryAt - bed.clock.now());
    }
    expect(pauses).toEqual([15, 15, 15, 15, 15, 15]);
  });

  test('25: any 2xx with a token is accepted, without one it is rejected and kept', async () => {
    expect(await rejected('', {}, 204)).toBe('empty');
    expect(await rejected('')).toBe('empty');
    expect(await rejected(' \r\n ')).toBe('empty');
    for (const status of [201, 206]) expect(await accepted(usual, {}, status)).toMatchObject({ lifetime: 86_400 });
  });

  test.each([
    ['nested 30,000 deep', '['.repeat(30_000) + ']'.repeat(30_000), 'not_json'],
    ['nested 30,000 deep beside a token', `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'access_token'],
    ['never closed', '{"a":'.repeat(13_000), 'not_json'],
    ['of 5,000 members', `{${Array.from({ length: 5_000 }, (_, index) => `"${index}":0`).join()}}`, 'access_token'],
    ['a list', '[]', 'not_json'],
    ['null', 'null', 'not_json'],
  ])('26: JSON that is %s is rejected like any other', (_, body, reason) => {
    expect(body.length).toBeLessThan(65_537);
    expect(readTokenResponse(body, 'application/json')).toBe(reason);
  });

  test('26: a JWT that is anything but a JWT is a token like any other', async () => {
    for (const access_token of [
      'no-dots',
      'a.b',
      'a.-.c',
      '...',
      jwt('[[[['),
      jwt('{"exp":{},"iat":[]}'),
      jwt('null'),
    ]) {
      expect(await accepted({ ...usual, access_token })).toMatchObject({ lifetime: 86_400 });
    }
  });
});

describe('bad input: options', () => {
  const options = { authUrl: 'https://h', audience: 'a', clientId: 'c', clientSecret: secretCanary };
  const problemOf = async (change: object) => {
    const { problems, message } = await failure('ERR_CONFIG', () => createServiceAuth({ ...options, ...change }));
    expect(problems).toHaveLength(1);
    expect(message).toContain(problems[0]?.option);
    return problems[0];
  };

  test.each([
    'http://h.example',
    `https://user:${secretCanary}@h`,
    `https://${secretCanary}@h`,
    'https://h?x',
    'https://h/?',
    'https://h#f',
    'ftp://h',
    'file:///etc/passwd',
    'javascript:alert(1)',
    ' https://h ',
    'https://h\\@evil',
    'https://h\\evil',
    'https://h\t/x',
    'https://h\n',
    `https://h/${'x'.repeat(10_000)}`,
    'h.example',
    '//h',
    'https://',
    '',
    undefined,
    null,
    1,
    {},
  ])('27: authUrl %j is a problem, and is not repeated', async (authUrl) => {
    const problem = await problemOf({ authUrl });
    expect(problem?.option).toBe('authUrl');
    if (typeof authUrl === 'string' && authUrl.length > 12) expect(problem?.message).not.toContain(authUrl.trim());
  });

  test('27: the same rules apply to baseUrl', async () => {
    for (const baseUrl of ['http://h.example', `https://u:${secretCanary}@h`, 'https://h?x', 'https://h\\@evil']) {
      expect(await problemOf({ baseUrl })).toMatchObject({ option: 'baseUrl' });
    }
  });

  test.each(['http://localhost:3000', 'http://127.0.0.1', 'http://127.9.9.9:1', 'http://[::1]:8080/x'])(
    '27: http: is allowed on loopback, such as %s',
    (authUrl) => expect(createServiceAuth({ ...options, authUrl })).toBeTruthy(),
  );

  test('27: http: is allowed elsewhere only when it is asked for', async () => {
    expect(
      createServiceAuth({ ...options, authUrl: new URL('http://h.example'), allowInsecureHttp: true }),
    ).toBeTruthy();
    expect(await problemOf({ authUrl: 'http://localhost.evil.example' })).toMatchObject({ option: 'authUrl' });
  });

  test('27: all spellings of one address are one record', async () => {
    const keys = new Set<string>();
    const store = memoryStore();
    for (const authUrl of ['https://h', 'HTTPS://H:443//', 'https://h/', new URL('https://h')]) {
      const load = (key: string) => {
        keys.add(key);
        return store.load(key);
      };
      await createServiceAuth({ ...options, authUrl, store: { ...store, load } }).getUsage();
    }
    expect(keys.size).toBe(1);
  });

  test.each([
    [`${secretCanary}\n`, 'white space'],
    [` ${secretCanary}`, 'white space'],
    [`${secretCanary}\u0000x`, 'control characters'],
    ['', 'not empty'],
    [undefined, 'must be a string'],
    [42, 'must be a string'],
    [Buffer.from(secretCanary), 'must be a string'],
    [secretCanary.repeat(50_000), 'at most 4096'],
    [`${secretCanary}\uD800`, 'surrogates'],
  ])(
    '28: a client secret of the kind number %# is a problem that is named, and the secret is not',
    async (clientSecret, message) => {
      const problem = await problemOf({ clientSecret });
      expect(problem?.option).toBe('clientSecret');
      expect(problem?.message).toContain(message);
    },
  );

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '150', 1e9, true])(
    '29: a limit of %j is a problem',
    async (tokens) => {
      expect(await problemOf({ issuanceLimit: { tokens } })).toMatchObject({ option: 'issuanceLimit.tokens' });
    },
  );

  test.each([
    [{ issuanceLimit: { windowMs: 999 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { windowMs: 2_678_400_001 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { tokens: 10, reserve: 10 } }, 'issuanceLimit.reserve'],
    [{ issuanceLimit: { reserve: -1 } }, 'issuanceLimit.reserve'],
    [{ issuanceLimit: { perDay: 150 } }, 'issuanceLimit.perDay'],
    [{ issuanceLimit: { enforce: 'no' } }, 'issuanceLimit.enforce'],
    [{ issuanceLimit: 150 }, 'issuanceLimit'],
    [{ issuanceLimit: null }, 'issuanceLimit'],
    [{ issuanceLimit: [] }, 'issuanceLimit'],
    [{ issuanceLimit: { windowMs: 86_400 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { windowMs: 3_600 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { windowMs: 2_592_000 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { windowMs: 1_440 } }, 'issuanceLimit.windowMs'],
    [{ issuanceLimit: { windows: [] } }, 'issuanceLimit.windows'],
    [{ issuanceLimit: { windows: {} } }, 'issuanceLimit.windows'],
    [{ issuanceLimit: { windows: new Array(9).fill({ tokens: 1, windowMs: 1_000 }) } }, 'issuanceLimit.windows'],
    [{ issuanceLimit: { windows: [null] } }, 'issuanceLimit.windows[0]'],
    [{ issuanceLimit: { windows: [[10, 3_600_000]] } }, 'issuanceLimit.windows[0]'],
    [{ issuanceLimit: { windows: [{ tokens: 10 }] } }, 'issuanceLimit.windows[0].windowMs'],
    [{ issuanceLimit: { windows: [{ windowMs: 3_600_000 }] } }, 'issuanceLimit.windows[0].tokens'],
    [{ issuanceLimit: { windows: [{ tokens: 10, windowMs: 3_600 }] } }, 'issuanceLimit.windows[0].windowMs'],
    [{ issuanceLimit: { windows: [{ tokens: 10, windowMs: 1_000, reserve: 1 }] } }, 'issuanceLimit.windows[0].reserve'],
    [{ issuanceLimit: { tokens: 10, windows: [{ tokens: 10, windowMs: 1_000 }] } }, 'issuanceLimit.windows'],
    [{ issuanceLimit: { windows: [1, 2].map((tokens) => ({ tokens, windowMs: 1_000 })) } }, 'issuanceLimit.windows'],
    [{ issuanceLimit: { windows: [{ tokens: 10, windowMs: 1_000 }], reserve: 10 } }, 'issuanceLimit.reserve'],
    [{ storeKey: 'x'.repeat(31) }, 'storeKey'],
    [{ storeKey: new Uint8Array(16) }, 'storeKey'],
    [{ storeKey: 32 }, 'storeKey'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ timeoutMs: 300_001 }, 'timeoutMs'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs'],
    [{ timeoutMs: 2 ** 31 + 5 }, 'timeoutMs'],
    [{ audience: '' }, 'audience'],
    [{ audience: ' a' }, 'audience'],
    [{ audience: 'a'.repeat(513) }, 'audience'],
    [{ clientId: 'a\nb' }, 'clientId'],
    [{ clientId: 7 }, 'clientId'],
    [{ instance: '' }, 'instance'],
    [{ instance: 'x'.repeat(65) }, 'instance'],
    [{ allowInsecureHttp: 'yes' }, 'allowInsecureHttp'],
    [{ store: { durability: 'durable' } }, 'store'],
    [{ store: { ...memoryStore(), durability: 'forever' } }, 'store'],
    [{ transport: {} }, 'transport'],
    [{ onEvent: 'log' }, 'onEvent'],
    [{ clock: {} }, 'clock'],
    [{ clock: 5 }, 'clock'],
    [{ apiOrigins: '*' }, 'apiOrigins'],
    [{ toString: 1 }, 'toString'],
  ])('29: %j is a problem of %s', async (change, option) => {
    expect(await problemOf(change)).toMatchObject({ option });
  });

  const { load, swap } = memoryStore();
  test.each([
    { audience: 'a'.repeat(512), clientId: 'c'.repeat(512), clientSecret: 's'.repeat(4_096), instance: 'i'.repeat(64) },
    { timeoutMs: 1, issuanceLimit: { tokens: 1, windowMs: 1_000, reserve: 0 }, storeKey: new Uint8Array(32) },
    {
      issuanceLimit: {
        windows: [
          { tokens: 10, windowMs: 600_000 },
          { tokens: 50, windowMs: 900_000 },
        ],
        reserve: 49,
      },
    },
    { timeoutMs: 300_000, issuanceLimit: { tokens: 1e6, windowMs: 2_678_400_000, reserve: 1e6 - 1 } },
    { storeKey: 'k'.repeat(32), store: Object.assign(() => {}, { load, swap, durability: 'replicated' as const }) },
  ])('29: the longest, the least and the most are no problems, number %#', (change) => {
    expect(createServiceAuth({ ...options, ...change })).toBeTruthy();
  });

  test('29: everything that is wrong comes at once', async () => {
    const wrong = {
      authUrl: 'x',
      baseUrl: 'y',
      audience: '',
      clientId: '',
      clientSecret: '',
      timeoutMs: 0,
      transport: 1,
      more: 1,
    };
    const { problems } = await failure('ERR_CONFIG', () =>
      createServiceAuth({ ...wrong, clock: {}, issuanceLimit: { tokens: 0 } } as never),
    );
    expect(problems.map(({ option }) => option).sort()).toEqual(
      [...Object.keys(wrong), 'clock', 'issuanceLimit.tokens'].sort(),
    );
    const nothing = await failure('ERR_CONFIG', () => createServiceAuth(undefined as never));
    expect(nothing.problems.map(({ option }) => option)).toEqual(['authUrl', 'audience', 'clientId', 'clientSecret']);
  });
});

describe('bad input: records', () => {
  const damages: Record<string, (text: string, record: LedgerRecord) => string> = {
    'of an unknown version': (text) => text.replace('/4 ', '/77 '),
    'with a flipped bit': (text) => text.replace('orders', 'osders'),
    'of 3.9 million characters': (_, record) =>
      encodeRecord({ ...record, spent: new Array(60_000).fill(record.spent[0]) }).slice(0, 3_900_000),
    'with a negative instant': (_, record) => encodeRecord({ ...record, completeSince: -1 }),
    'with an id that comes twice': (_, record) =>
      encodeRecord({ ...record, spent: [...record.spent, ...record.spent] }),
    'with an instant that no Date can show': (_, record) => encodeRecord({ ...record, latestAt: 9e15 }),
    'that is truncated': (text) => text.slice(0, 200),
    'that is empty': () => '',
    'of ten megabytes': (text) => text.padEnd(10_000_000),
  };
  test.each(Object.entries(damages))(
    '30: a record %s: an error, it is not overwritten, nothing is sent, the token in memory is served',
    async (_, damage) => {
      const { client, clock, store, endpoint, token, use } = createBed();
      const auth = client();
      const first = await token(auth);
      const text = (await store.text()) ?? '';
      const damaged = damage(text, decodeRecord(text) as LedgerRecord);
      await store.replace(damaged);
      await failure('ERR_STORE_INTEGRITY', clock.until(client().getToken()));
      expect(await use(auth, minute)).toEqual([first]);
      expect(await store.text()).toBe(damaged);
      expect(endpoint.requests.length).toBe(1);
    },
  );

  test('30: instants in the year 9999 count as live, and a clock that was there makes everything count from now on', async () => {
    const { client, clock, store, token, endpoint } = createBed('process');
    const first = await token(client());
    const record = decodeRecord((await store.text()) ?? '') as LedgerRecord;
    const at = Date.UTC(9999, 11, 31);
    const spent = record.spent.map((one) => ({ ...one, at, issuedAt: at }));
    await store.replace(encodeRecord({ ...record, spent }));
    await clock.advance(10 * day);
    expect(await client().getUsage()).toMatchObject({ used: 1 });
    await store.replace(encodeRecord({ ...record, spent, latestAt: at }));
    expect(await client().getUsage()).toMatchObject({ used: 1, issuances: [{ id: first.id, at: clock.now() }] });
    await token(client());
    await clock.advance(2 * day);
    expect(await client().getUsage()).toMatchObject({ used: 0 });
    expect(endpoint.requests.length).toBe(2);
  });

  test.each([
    ['sequence', (record: LedgerRecord) => ({ ...record, sequence: 8e15, tokens: [] })],
    ['reset', (record: LedgerRecord) => ({ ...record, states: { orders: { resetUpTo: 8e15 } } })],
  ])(
    '30: a record with a %s at the end of all numbers stays as it is, until somebody deletes it and restarts the processes that remember it',
    async (_, forge) => {
      const { client, clock, store, token } = createBed();
      await token(client());
      const record = decodeRecord((await store.text()) ?? '') as LedgerRecord;
      const text = encodeRecord(forge(record));
      await store.replace(text);
      // The next record could not be read, so it is not written, and nothing is sent.
      const { message } = await failure('ERR_STORE', clock.until(client().getToken()));
      expect(message).toContain('the new one would be too large or invalid');
      expect(await store.text()).toBe(text);
      expect(await client().getUsage()).toMatchObject({ used: 1 });
      await store.replace(undefined);
      const restarted = client();
      await token(restarted);
      expect(await restarted.getUsage()).toMatchObject({ used: 1 });
    },
  );

  test('30: a token under an unknown key is not changed, and this process uses its own audience state', async () => {
    const { client, token, endpoint } = createBed();
    const first = await token(client({ clientSecret: 'another secret' }));
    await token(client());
    expect((await token(client({ clientSecret: 'another secret' }))).value).toBe(first.value);
    expect(endpoint.requests.length).toBe(2);
  });
});

describe('bad input: one thing after the other', () => {
  test('no failure leaves a timer, a rejection or a wrong count behind', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    const { answer, release } = gated(answering(200, 'nonsense'));
    endpoint.next(failing('ECONNREFUSED'), answering(302), answering(500), answering(404), answer);
    const auth = client();
    for (const ambiguous of [false, false, true, false]) {
      const { retryAt, ...error } = await failure('ERR_TOKEN_ENDPOINT', clock.until(auth.getToken()));
      expect(error.ambiguous).toBe(ambiguous);
      expect(clock.timers.all).toBe(0);
      await clock.advance(retryAt - clock.now());
    }
    const last = failure('ERR_TOKEN_RESPONSE', auth.getToken());
    await settled();
    release();
    const { retryAt } = await last;
    await clock.advance((retryAt ?? 0) - clock.now());
    await token(auth);
    expect(await auth.getUsage()).toMatchObject({ used: 3, pending: 2 });
    expect(clock.timers.all).toBe(0);
  });
});
