import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { requestToken, type TokenRequestResult } from '../src/endpoint/token-endpoint.ts';
import { fetchTransport, type Transport } from '../src/index.ts';
import { secretCanary } from './support/canaries.ts';
import { deadAddress, startServer, startSocketServer } from './support/loopback.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { watchForUnhandled } from './support/unhandled.ts';
import { writtenRequest } from './support/written-request.ts';

const written = writtenRequest(secretCanary);
const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ access_token: 'abc.def.ghi', token_type: 'Bearer', expires_in: 86_400 });

const request = (url: string, clock: ManualClock = createManualClock()): Promise<TokenRequestResult> =>
  requestToken(written, { tokenUrl: url, transport: fetchTransport(), timeoutMs: 30_000, clock });

describe('a token request over a socket', () => {
  test('is exactly what the interface of the service says', async () => {
    let received = '';
    const { url } = await startSocketServer((socket, text) => {
      received = text;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    expect(await request(url)).toEqual({
      kind: 'token',
      token: { value: 'abc.def.ghi', lifetimeMs: 86_400_000, warnings: [] },
    });
    const [head = '', sent = ''] = received.split('\r\n\r\n');
    const [requestLine, ...headers] = head.split('\r\n');
    expect(requestLine).toBe('POST /oauth/token HTTP/1.1');
    const values = new Map(
      headers
        .map((line) => line.split(': ', 2) as [string, string])
        .map(([name, value]) => [name.toLowerCase(), value]),
    );
    expect(values.get('content-type')).toBe('application/json');
    expect(values.get('accept')).toBe('application/json');
    expect(values.get('accept-encoding')).toBe('identity');
    expect(values.get('content-length')).toBe(`${Buffer.byteLength(sent)}`);
    for (const name of ['authorization', 'cookie', 'transfer-encoding', 'referer', 'origin'])
      expect(values.has(name)).toBe(false);
    const [audience, clientId, clientSecret] = ['orders', 'client "1"', secretCanary];
    expect(sent).toBe(
      `{"audience":"${audience}","grant_type":"client_credentials","client_id":"client \\"1\\"","client_secret":"${clientSecret}"}`,
    );
    expect(JSON.parse(sent)).toEqual({
      audience,
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect with %i, and costs nothing', async (status) => {
    const elsewhere = await startServer((response) => response.end());
    for (const location of [elsewhere.url, '/oauth/token', 'http://[::1]:1/']) {
      const { url, bodies } = await startServer((response) => response.writeHead(status, { location }).end('moved'));
      expect(await request(url)).toEqual({ kind: 'released', cause: 'misconfigured', status });
      expect([bodies.length, elsewhere.bodies.length]).toEqual([1, 0]);
    }
  });

  test('that is answered 421, and that fetch sends again, has the outcome of the second request', async () => {
    const { url, bodies } = await startServer((response) => {
      if (bodies.length === 1) response.writeHead(421).end();
      else response.writeHead(200, json).end(body);
    });
    expect(await request(url)).toMatchObject({ kind: 'token' });
    expect(bodies.length).toBe(2);
  });

  test('has the outcome of its own answer, whatever other requests of the process are answered', async () => {
    const other = await startServer((response) => response.writeHead(502).end());
    const { url } = await startServer((response) => {
      void fetch(other.url, { method: 'POST', body: 'x' }).then(() => response.writeHead(401).end());
    });
    expect(await request(url)).toMatchObject({ kind: 'released', cause: 'credentials', status: 401 });
  });

  test.each([400, 401, 403, 404, 408, 425, 429, 500, 502, 503, 504])(
    'that is answered %i arrives once',
    async (status) => {
      const { url, bodies } = await startServer((response) => response.writeHead(status).end('{}'));
      const result = await request(url);
      expect(result.kind).toBe(status >= 500 || status === 408 || status === 425 ? 'ambiguous' : 'released');
      expect(bodies.length).toBe(1);
    },
  );
});

/** Sends a request by `node:http`, as most clients do. */
const nodeTransport: Transport = ({ url, method, headers, body: sent, signal }) =>
  new Promise((resolve, reject) => {
    const message = httpRequest(url, { method, headers, signal, agent: false }, (answer) =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text(answer) }),
    );
    message.on('error', reject).end(sent);
  });

describe.each([
  ['fetch', fetchTransport()],
  ['node:http', nodeTransport],
])('an answer that a transport throws, by %s,', (_, once) => {
  type Throw = (answer: { status: number; headers: unknown }) => unknown;
  const throwing =
    (asError: Throw): Transport =>
    async (parts) => {
      throw asError(await once(parts));
    };
  const by = (asError: Throw, url: string) =>
    requestToken(written, {
      tokenUrl: url,
      transport: throwing(asError),
      timeoutMs: 30_000,
      clock: createManualClock(),
    });
  const forms: readonly [string, Throw][] = [
    ['the cause of an error', (cause) => new TypeError('fetch failed', { cause: named(cause) })],
    ['the response of an error', (response) => Object.assign(new Error('failed'), { response })],
    ['an error', (answer) => Object.assign(new Error('failed'), named(answer))],
  ];
  const named = ({ status, headers }: Parameters<Throw>[0]) => ({ statusCode: status, headers });

  test.each(forms)('as %s is that answer, with its Retry-After', async (_form, asError) => {
    const { url } = await startServer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
    expect(await by(asError, url)).toEqual({
      kind: 'released',
      cause: 'rate_limited',
      status: 429,
      retryAfterMs: 7_200_000,
    });
  });

  test('may have been a token if it is a 5xx', async () => {
    const { url } = await startServer((response) => response.writeHead(503).end());
    expect(await by((response) => Object.assign(new Error('failed'), { response }), url)).toMatchObject({
      kind: 'ambiguous',
      status: 503,
    });
  });

  test('as a success may have been a token, because its body is missing', async () => {
    const { url } = await startServer((response) => response.writeHead(200, json).end(body));
    expect(await by((response) => Object.assign(new Error('failed'), { response }), url)).toMatchObject({
      kind: 'ambiguous',
    });
  });
});

describe('an answer that does not come', () => {
  test('from an address without a listener costs nothing', async () => {
    expect(await request(await deadAddress())).toEqual({
      kind: 'released',
      cause: 'unreachable',
      error: 'TypeError ECONNREFUSED',
    });
  });

  test('from a name that does not exist costs nothing', async () => {
    expect(await request('http://does-not-exist.invalid/oauth/token')).toEqual({
      kind: 'released',
      cause: 'unreachable',
      error: expect.stringMatching(/^TypeError (ENOTFOUND|EAI_AGAIN)$/),
    });
  });

  test('because the connection is cut may have been a token', async () => {
    const { url, bodies } = await startSocketServer((socket) => socket.resetAndDestroy());
    expect(await request(url)).toEqual({
      kind: 'ambiguous',
      error: expect.stringMatching(/^TypeError( \w+)?$/),
    });
    expect(bodies.length).toBe(1);
  });

  test.each([
    ['ends in the head', 'HTTP/1.1 200 OK\r\ncontent-type: appli'],
    ['ends in the body', `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`],
    ['ends in a chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n${body.slice(0, 10)}`],
    ['is no HTTP', 'hello\r\n\r\n'],
  ])('whole, because it %s, may have been a token', async (_, answer) => {
    const { url, bodies } = await startSocketServer((socket) => socket.end(answer));
    expect(await request(url)).toEqual({
      kind: 'ambiguous',
      error: expect.stringMatching(/^TypeError( \w+)?$/),
    });
    expect(bodies.length).toBe(1);
  });

  test('whole, because the connection is cut in the body, may have been a token', async () => {
    const { url } = await startSocketServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`, () =>
        socket.resetAndDestroy(),
      );
    });
    expect(await request(url)).toEqual({
      kind: 'ambiguous',
      error: expect.stringMatching(/^TypeError( \w+)?$/),
    });
  });

  test.each([
    ['says nothing', ''],
    ['drips its head', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['drips its body', `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`],
  ])('in time, because the endpoint %s, may have been a token: one deadline covers all of it', async (_, first) => {
    const clock = createManualClock();
    let connected: (socket: Socket) => void = () => {};
    const connection = new Promise<Socket>((resolve) => {
      connected = resolve;
    });
    const { url } = await startSocketServer((socket) => {
      if (first !== '') socket.write(first);
      connected(socket);
    });
    const result = request(url, clock);
    const socket = await connection;
    for (let byte = 0; byte < 29; byte++) {
      if (first !== '') socket.write('x');
      await clock.advance(1_000);
    }
    expect(clock.timers.all).toBe(1);
    const closed = once(socket, 'close');
    await clock.advance(1_000);
    expect(await result).toEqual({ kind: 'ambiguous', error: 'TimeoutError' });
    await closed;
    expect(clock.timers.all).toBe(0);
  });

  test('in time also fails for transports that ignore their signal', async () => {
    const clock = createManualClock();
    const result = requestToken(written, {
      tokenUrl: 'http://127.0.0.1/',
      transport: () => new Promise(() => {}),
      timeoutMs: 1_000,
      clock,
    });
    await clock.advance(1_000);
    expect(await result).toEqual({ kind: 'ambiguous', error: 'TimeoutError' });
  });
});

describe('an answer that is too much', () => {
  const padded = (length: number) => body.replace('{', `{${' '.repeat(length - body.length)}`);

  test('65,536 bytes are read, one more is not', async () => {
    for (const [length, kind] of [
      [65_536, 'token'],
      [65_537, 'ambiguous'],
    ] as const) {
      const { url } = await startServer((response) => response.writeHead(200, json).end(padded(length)));
      expect(await request(url)).toMatchObject(kind === 'token' ? { kind } : { kind, reason: 'too_large' });
    }
  });

  test('a body that never ends is cut off, and the connection with it', async () => {
    let closed = Promise.resolve<unknown>(undefined);
    const { url } = await startServer((response) => {
      closed = once(response, 'close');
      response.writeHead(200, json);
      const pour = () => {
        while (response.write('x'.repeat(16_384)));
        response.once('drain', pour);
      };
      pour();
    });
    expect(await request(url)).toMatchObject({ kind: 'ambiguous', reason: 'too_large' });
    await closed;
  });

  test('a compressed body counts as what it becomes, and is not unpacked further than that', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1_024 * 1_024, 'x'));
    const { url } = await startServer((response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    expect(await request(url)).toMatchObject({ kind: 'ambiguous', reason: 'too_large' });
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1_024 * 1_024);
  });

  test('a compressed body of ordinary size is read, although the request did not ask for compression', async () => {
    const { url } = await startServer((response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(body)),
    );
    expect(await request(url)).toMatchObject({ kind: 'token' });
  });

  test('of an error answer does not change its meaning', async () => {
    const { url } = await startServer((response) => response.writeHead(401).end('x'.repeat(100_000)));
    expect(await request(url)).toMatchObject({ kind: 'released', cause: 'credentials', status: 401 });
    const broken = await startServer((response) => response.writeHead(403).end(Buffer.from([0xff, 0xfe])));
    expect(await request(broken.url)).toMatchObject({ kind: 'released', cause: 'misconfigured', status: 403 });
    const failing = await startServer((response) => response.writeHead(503).end('x'.repeat(100_000)));
    expect(await request(failing.url)).toEqual({ kind: 'ambiguous', status: 503 });
  });
});

describe('an error answer whose body never ends', () => {
  const meanings: [string, number, Record<string, string>, object][] = [
    [
      'that is too short for its length',
      429,
      { 'retry-after': '3600', 'content-length': '100' },
      { retryAfterMs: 3_600_000 },
    ],
    ['in pieces', 401, {}, { cause: 'credentials' }],
    ['after a redirect', 307, { location: '/elsewhere' }, { cause: 'misconfigured' }],
  ];
  test.each(meanings)('%s is cut off after two seconds, and the status stands', async (_, status, headers, meaning) => {
    const clock = createManualClock();
    const transport = fetchTransport();
    let answered = () => {};
    const head = new Promise<void>((resolve) => {
      answered = resolve;
    });
    let closed = Promise.resolve<unknown>(undefined);
    const { url } = await startServer((response) => {
      closed = once(response, 'close');
      response.writeHead(status, { ...json, ...headers });
      response.write('{"error":');
    });
    const result = requestToken(written, {
      tokenUrl: url,
      transport: async (request) => transport(request).finally(answered),
      timeoutMs: 30_000,
      clock,
    });
    await head;
    // The wait for the body begins a moment after its head has come.
    while (clock.timers.all < 2) await setImmediate();
    await clock.advance(2_000);
    expect(await result).toMatchObject({ kind: 'released', ...meaning });
    await closed;
  });
});

describe('an answer in another encoding', () => {
  const answeredWith = async (bytes: Uint8Array) => {
    const { url } = await startServer((response) => response.writeHead(200, json).end(bytes));
    return request(url);
  };

  test('UTF-8 with a byte order mark is read', async () => {
    expect(await answeredWith(Buffer.from(`\uFEFF${body}`))).toMatchObject({ kind: 'token' });
  });

  test.each([
    ['Latin-1', Buffer.from(body.replace('Bearer', 'Bearer\xe9'), 'latin1')],
    ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${body}`, 'utf16le')],
    ['a character cut in half', Buffer.from(`${body}€`).subarray(0, -1)],
  ])('%s is not', async (_, bytes) => {
    expect(await answeredWith(bytes)).toEqual({ kind: 'ambiguous', reason: 'not_utf8' });
  });

  test('UTF-8 split anywhere is put together', async () => {
    const odd = Buffer.from(JSON.stringify({ ...JSON.parse(body), note: '€😀' }));
    const { url } = await startServer((response) => {
      response.writeHead(200, json);
      for (const byte of odd) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await request(url)).toMatchObject({ kind: 'token' });
  });
});

describe('fetchTransport', () => {
  const exchange = { url: 'https://auth.example.com/oauth/token', method: 'POST', headers: {}, body: 'x' } as const;

  test('takes any fetch, and asks it neither to follow nor to cache', async () => {
    const calls: unknown[][] = [];
    const { signal } = new AbortController();
    const send = fetchTransport({
      fetch: async (...parameters) => {
        calls.push(parameters);
        return new Response('hello', { status: 201, headers: { 'x-a': 'b' } });
      },
    });
    const response = await send({ ...exchange, signal });
    expect(response).toMatchObject({ status: 201, body: 'hello' });
    expect((response.headers as Headers).get('x-a')).toBe('b');
    const init = { method: 'POST', headers: {}, body: 'x', signal, redirect: 'manual', next: { internal: true } };
    expect(calls).toEqual([[exchange.url, init]]);
  });

  test('reads the global fetch at each request, so that it can be replaced', async () => {
    const send = fetchTransport();
    const original = globalThis.fetch;
    globalThis.fetch = async () => new Response(null, { status: 204 });
    try {
      expect(await send({ ...exchange, signal: new AbortController().signal })).toMatchObject({
        status: 204,
        body: '',
      });
    } finally {
      globalThis.fetch = original;
    }
  });

  test.each([
    ['resolves with nothing, as a mock without an implementation does', () => undefined],
    ['resolves with null', () => null],
    [
      'resolves with an answer whose status cannot be read, and whose body fails',
      () => ({
        get status() {
          throw new TypeError('no status');
        },
        text: () => Promise.reject(new Error('the connection was cut')),
      }),
    ],
  ])('rejects if the fetch %s, and nothing ends the process', async (_, answer) => {
    const unhandled = watchForUnhandled();
    const send = fetchTransport({ fetch: async () => answer() as unknown as Response });
    const { signal } = new AbortController();
    await expect(send({ ...exchange, signal })).rejects.toThrow(TypeError);
    expect(await unhandled()).toEqual([]);
    const result = await requestToken(written, {
      tokenUrl: exchange.url,
      transport: send,
      timeoutMs: 30_000,
      clock: createManualClock(),
    });
    expect(result).toEqual({ kind: 'ambiguous', error: 'TypeError' });
  });

  test.each([
    ['is missing', undefined, 'TypeError'],
    [
      'throws',
      () => {
        throw new RangeError('an option that the runtime refuses');
      },
      'RangeError',
    ],
  ])('costs nothing if the global fetch %s', async (_, broken, error) => {
    vi.stubGlobal('fetch', broken);
    onTestFinished(() => void vi.unstubAllGlobals());
    const result = await requestToken(written, {
      tokenUrl: exchange.url,
      transport: fetchTransport(),
      timeoutMs: 30_000,
      clock: createManualClock(),
    });
    expect(result).toEqual({ kind: 'released', cause: 'unreachable', error });
  });

  test('costs a token if fetch rejects, or if it returns no promise', async () => {
    const refused = new RangeError('later');
    for (const [fetch, error] of [
      [async () => Promise.reject(refused), 'RangeError'],
      [() => undefined, 'TypeError'],
    ] as const) {
      const send = fetchTransport({ fetch: fetch as () => Promise<Response> });
      const result = await requestToken(written, {
        tokenUrl: exchange.url,
        transport: send,
        timeoutMs: 30_000,
        clock: createManualClock(),
      });
      expect(result).toEqual({ kind: 'ambiguous', error });
    }
  });

  const answering = (body: Readable): Transport =>
    fetchTransport({
      fetch: async () => ({
        status: 200,
        type: 'default',
        ok: true,
        headers: new Headers(),
        body,
        text: () => body.read(),
      }),
    });

  test('reads a body that is a stream of Node, byte by byte', async () => {
    const body = Readable.from(
      Buffer.from('{"€":"😀"}')
        .toString('latin1')
        .split('')
        .map((byte) => Buffer.from(byte, 'latin1')),
    );
    const { signal } = new AbortController();
    expect(await answering(body)({ ...exchange, signal })).toMatchObject({ status: 200, body: '{"€":"😀"}' });
  });

  test('stops reading a stream of Node at 65,536 bytes, and destroys it', async () => {
    let chunks = 0;
    const body = new Readable({
      read() {
        chunks += 1;
        this.push(Buffer.alloc(16_384));
      },
    });
    const closed = new Promise((resolve) => body.once('close', resolve));
    const { signal } = new AbortController();
    const sent = answering(body)({ ...exchange, signal });
    await expect(sent).rejects.toMatchObject({ code: 'ERR_TOKEN_RESPONSE', reason: 'too_large' });
    await closed;
    expect(chunks).toBeLessThan(16);
  });

  test('takes what a browser shows of a redirect for a redirect', async () => {
    const opaque: Response = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    const send = fetchTransport({ fetch: async () => opaque });
    expect(await send({ ...exchange, signal: new AbortController().signal })).toMatchObject({ status: 302 });
  });
});

test('a fetch that is no function is told when the transport is created', () => {
  for (const wrong of [5, 'fetch', {}])
    expect(() => fetchTransport({ fetch: wrong as never })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
});
