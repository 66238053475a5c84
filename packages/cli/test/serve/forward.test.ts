import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { manyProcesses } from '../support/program.ts';
import { type Answered, type Asked, type Serving, send, sendRaw, startServing } from '../support/serving.ts';
import { bodyOf, startRawUpstream, startUpstream } from '../support/upstream.ts';
import { startCanaryService } from '../support/world.ts';

const marked = { 'service-auth': 'true' };

function startWith(baseUrl: string): Promise<Serving> {
  return startServing({ env: { SERVICE_BASE_URL: baseUrl } });
}

const ask = (url: string, path: string, asked: Asked = {}): Promise<Answered> =>
  send(url, path, { ...asked, headers: { ...marked, ...asked.headers } });

/** A request whose body the test writes bit by bit. */
function open(url: string, path: string, headers: Record<string, string> = {}, method = 'POST') {
  const { hostname, port } = new URL(url);
  const outgoing = request({ hostname, port, path, method, headers: { ...marked, ...headers }, agent: false });
  outgoing.on('error', () => {});
  return outgoing;
}

test('requests go to the API with the bearer, and answers come back as they are', async () => {
  const seen: IncomingMessage[] = [];
  const api = await startUpstream(async (request, response) => {
    seen.push(request);
    const body = await bodyOf(request);
    response.writeHead(299, 'Very fine', [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'X-Bytes',
      '\u00fc',
      'Content-Length',
      '4',
    ]);
    // Node would encode the head with a body that is text, as UTF-8.
    response.end(Buffer.from(body));
  });
  const { url, token } = await startWith(`${api}/tenant`);
  const answer = await ask(url, '/api/v1/x?a=1', {
    method: 'PATCH',
    body: 'body',
    headers: { cookie: 'c=1', accept: 'x' },
  });
  expect(answer).toMatchObject({ status: 299, body: 'body' });
  expect(answer.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-bytes': '\u00fc', via: '1.1 service-auth' });
  const bearer = JSON.parse((await token()).body).access_token;
  expect(seen[0]).toMatchObject({ method: 'PATCH', url: '/tenant/api/v1/x?a=1' });
  expect(seen[0]?.headers).toEqual({
    authorization: `Bearer ${bearer}`,
    accept: 'x',
    connection: 'keep-alive',
    cookie: 'c=1',
    'content-length': '4',
    host: new URL(api).host,
    via: '1.1 service-auth',
  });
});

test('another scheme is that of the forwarded request, and of what callers get', async () => {
  const seen: (string | undefined)[] = [];
  const api = await startUpstream((request, response) => {
    seen.push(request.headers.authorization);
    response.end();
  });
  const { ask, token } = await startServing({
    env: { SERVICE_BASE_URL: api, SERVICE_AUTH_SCHEME: 'Zoho-oauthtoken' },
  });
  const headers = { 'service-auth': 'true' };
  await ask('/x', { headers });
  const issued = JSON.parse((await token()).body);
  expect(issued.token_type).toBe('Zoho-oauthtoken');
  expect(JSON.parse((await ask('/token', { headers })).body).tokenType).toBe('Zoho-oauthtoken');
  expect(seen).toEqual([`Zoho-oauthtoken ${issued.access_token}`]);
});

test('the guards hold for the API too', async () => {
  let count = 0;
  const api = await startUpstream((_, response) => response.end(`${++count}`));
  const { url } = await startWith(`${api}/tenant`);
  expect(await send(url, '/x')).toMatchObject({ status: 412 });
  expect(await ask(url, '/x', { headers: { host: 'api.example' } })).toMatchObject({ status: 403 });
  expect(await ask(url, '/x', { headers: { origin: 'null' } })).toMatchObject({ status: 403 });
  expect(await ask(url, '/x', { headers: { authorization: 'Bearer mine' } })).toMatchObject({ status: 400 });
  const lines = `Host: ${new URL(url).host}\r\nService-Auth: true\r\nConnection: close\r\n`;
  for (const target of ['/../x', '/..%2fx', '/%2e%2e/x', '/x/..%5c..%5cx', '/..;/x']) {
    expect(await sendRaw(url, `GET ${target} HTTP/1.1\r\n${lines}\r\n`)).toMatch(/^HTTP\/1.1 400 /);
  }
  const upgrade = `Host: ${new URL(url).host}\r\nService-Auth: true\r\nConnection: Upgrade, close\r\n`;
  expect(await sendRaw(url, `GET /x HTTP/1.1\r\n${upgrade}Upgrade: websocket\r\n\r\n`)).toMatch(/^HTTP\/1.1 501 /);
  expect(count).toBe(0);
  expect(await sendRaw(url, `GET /x HTTP/1.1\r\n${upgrade}Upgrade: h2c\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
});

test('a smuggled second request does not reach the API', async () => {
  const seen: string[] = [];
  const api = await startUpstream(async (request, response) => {
    await bodyOf(request).catch(() => {});
    seen.push(request.url ?? '');
    response.end();
  });
  const { url } = await startWith(api);
  const lines = `Host: ${new URL(url).host}\r\nService-Auth: true\r\n`;
  const second = `GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;
  const shapes = [
    `POST /x HTTP/1.1\r\n${lines}Content-Length: 0\r\nContent-Length: ${second.length}\r\n\r\n${second}`,
    `POST /x HTTP/1.1\r\n${lines}Content-Length: ${second.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
    `POST /x HTTP/1.1\r\n${lines}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${second}`,
    `POST /x HTTP/1.1\r\n${lines}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${second}`,
    `POST /x HTTP/1.1\r\n${lines}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${second}`,
    `POST /x HTTP/1.1\r\n${lines}Content-Length: +0\r\n\r\n${second}`,
    `GET /x HTTP/1.1\r\n${lines}X: a\r\n b\r\n\r\n${second}`,
    `GET /x\r\n${lines}\r\n${second}`,
  ];
  for (const shape of shapes) {
    const received = await sendRaw(url, shape);
    expect(received, shape).toMatch(/^HTTP\/1.1 [45]\d\d /);
    expect(received.match(/HTTP\/1.1 2/), shape).toBeNull();
  }
  expect(seen).not.toContain('/smuggled');
});

test('bodies are streamed both ways at the same time', async () => {
  const api = await startUpstream((request, response) => void request.pipe(response));
  const { url } = await startWith(api);
  const outgoing = open(url, '/echo');
  outgoing.write('first');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks = answer.setEncoding('utf8')[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toBe('first');
  outgoing.write('second');
  expect((await chunks.next()).value).toBe('second');
  outgoing.end();
  expect((await chunks.next()).done).toBe(true);
});

test('trailers are left out, in both directions, and the bodies are whole', async () => {
  const seen: unknown[] = [];
  const api = await startUpstream(async (request, response) => {
    seen.push(await bodyOf(request), request.trailers);
    response.writeHead(200, { trailer: 'x-sum' });
    response.write('answer');
    response.addTrailers({ 'x-sum': '1' });
    response.end();
  });
  const { url } = await startWith(api);
  const lines = `Host: ${new URL(url).host}\r\nService-Auth: true\r\nConnection: close\r\n`;
  const body = 'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n';
  const received = await sendRaw(url, `POST /x HTTP/1.1\r\n${lines}${body}`);
  expect(seen).toEqual(['body', {}]);
  expect(received).toMatch(/\r\n\r\n6\r\nanswer\r\n0\r\n\r\n$/);
  expect(received).not.toMatch(/x-sum/i);
});

test('the head of an answer arrives before its body', async () => {
  const api = await startUpstream(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  );
  const { url } = await startWith(api);
  const outgoing = open(url, '/events', {}, 'GET');
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(answer.headers['content-type']).toBe('text/event-stream');
  outgoing.destroy();
});

test(
  'a caller that reads slowly slows the API down, and an API that reads slowly the caller',
  manyProcesses,
  async () => {
    const chunk = Buffer.alloc(65_536);
    let written = 0;
    let blocked = () => {};
    const isBlocked = new Promise<void>((resolve) => (blocked = resolve));
    const api = await startUpstream((request, response) => {
      if (request.method === 'GET') {
        const more = () => {
          while (response.write(chunk)) written += chunk.length;
          written += chunk.length;
          blocked();
        };
        response.on('drain', more);
        more();
      }
      // The body of the POST is not read.
    });
    const { url } = await startWith(api);
    const download = open(url, '/download', {}, 'GET');
    download.end();
    const [answer] = (await once(download, 'response')) as [IncomingMessage];
    answer.pause();
    await isBlocked;
    await settled(() => written);
    // The buffers of sockets take a few megabytes.
    expect(written).toBeLessThan(32_000_000);
    download.destroy();

    const upload = open(url, '/upload');
    let sent = 0;
    const more = () => {
      if (sent > 100_000_000) return;
      while (upload.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    upload.on('drain', more);
    more();
    await settled(() => sent);
    expect(sent).toBeLessThan(32_000_000);
    upload.destroy();
  },
);

/** Waits until a number does not change any more. */
async function settled(read: () => number): Promise<void> {
  let last = -1;
  await expect
    .poll(
      () => {
        const now = read();
        const isSame = now === last;
        last = now;
        return isSame && now > 0;
      },
      { interval: 300, timeout: 60_000 },
    )
    .toBe(true);
}

test('a caller that expects 100 gets it when the API is asked, and not if the request is refused', async () => {
  const api = await startUpstream(async (request, response) => response.end(await bodyOf(request)));
  const { url } = await startWith(api);
  const outgoing = open(url, '/x', { expect: '100-continue', 'content-length': '4' });
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  outgoing.end('body');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(await text(answer)).toBe('body');

  const refused = open(url, '/x', { expect: '100-continue', 'content-length': '4', authorization: 'Bearer x' });
  let continued = false;
  refused.on('continue', () => (continued = true));
  refused.flushHeaders();
  const [refusal] = (await once(refused, 'response')) as [IncomingMessage];
  expect([refusal.statusCode, continued]).toEqual([400, false]);
  refused.destroy();
});

test('a caller that is gone ends the request to the API, before the answer and within it', async () => {
  const closed: Promise<unknown>[] = [];
  let arrived = () => {};
  const api = await startUpstream((request, response) => {
    closed.push(once(response, 'close'));
    arrived();
    if (request.url === '/within') response.write('part');
  });
  const { url } = await startWith(api);
  for (const path of ['/before', '/within']) {
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const outgoing = open(url, path, {}, 'GET');
    outgoing.end();
    await arrival;
    if (path === '/within') await once(outgoing, 'response');
    outgoing.destroy();
    await closed.at(-1);
  }
  expect(closed.length).toBe(2);
  const metrics = async () => (await ask(url, '/metrics')).body;
  await expect.poll(metrics).toContain('service_auth_serve_requests_total{door="api",status="aborted"} 2\n');
});

test(
  'an API that dies at any byte of its answer never leaves a caller with an answer that looks whole',
  manyProcesses,
  async () => {
    const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789';
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n';
    let bytes = '';
    const api = await startRawUpstream((socket) => socket.end(bytes));
    const { url } = await startWith(api);
    for (const full of [whole, chunked]) {
      for (let length = 0; length <= full.length; length += 1) {
        bytes = full.slice(0, length);
        const outcome = await ask(url, '/x').then(
          ({ status, body }) => `${status} ${body.length}`,
          () => 'broken',
        );
        const place = JSON.stringify(bytes);
        if (length === full.length) expect(outcome, place).toBe('200 10');
        else if (length < full.indexOf('\r\n\r\n') + 4) expect(outcome, place).toMatch(/^502 /);
        else expect(outcome, place).toBe('broken');
      }
    }
    expect(await ask(url, '/liveness')).toMatchObject({ status: 200 });
  },
);

test.for([
  ['HTTP/1.1 403 Zugriff f\u00fcr alle', 403, 'latin1'],
  ['HTTP/1.1 200 \u20ac', 200, 'utf8'],
  ['HTTP/1.1 200 a\u0001b', 200, 'latin1'],
  ['HTTP/1.1 299 ', 299, 'latin1'],
  ['HTTP/1.1 200 OK\r\nX: a\u0001b', 502, 'latin1'],
] as const)('the head %j of an answer becomes the status %i, and does no harm', async ([head, status, encoding]) => {
  const bytes = Buffer.from(`${head}\r\nContent-Length: 4\r\n\r\nbody`, encoding);
  const { url } = await startWith(await startRawUpstream((socket) => socket.end(bytes)));
  expect((await ask(url, '/x')).status).toBe(status);
  expect((await ask(url, '/liveness')).status).toBe(200);
});

test('an answer without content has no length, whatever the API says', async () => {
  const head = 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\nX: a\r\n\r\n';
  const { url } = await startWith(await startRawUpstream((socket) => socket.end(head)));
  const { status, headers } = await ask(url, '/x');
  expect({ status, x: headers['x'], length: headers['content-length'] }).toEqual({ status: 204, x: 'a' });
});

test.for(['gzip, chunked', 'chunked, gzip', 'gzip', 'identity', 'Chunked\r\nTransfer-Encoding: gzip'])(
  'an answer with the transfer coding %j, which nobody asked for, is not passed on as another body',
  async (codings) => {
    const bytes = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${codings}\r\n\r\n4\r\nbody\r\n0\r\n\r\n`;
    const { url } = await startWith(await startRawUpstream((socket) => socket.end(bytes)));
    expect(await ask(url, '/x')).toMatchObject({ status: 502 });
    expect((await ask(url, '/liveness')).status).toBe(200);
  },
);

test.for([
  ['none comes', 503, 'broken off'],
  ['one comes', 200, 200],
] as const)(
  'an API that answers 401 may reset while another token is asked for, and %s',
  async ([, status, expected]) => {
    const service = await startCanaryService();
    let connections = 0;
    let reset = () => {};
    const api = await startRawUpstream((socket) => {
      if (connections++ > 0) return void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\npart');
      reset = () => socket.resetAndDestroy();
    });
    const { url, token } = await startServing({ service, env: { SERVICE_BASE_URL: api } });
    expect(await token()).toMatchObject({ status: 200 });
    const paused = service.tokenEndpoint.pauseNext(status === 503 ? { status } : undefined);
    const answer = ask(url, '/x').then(
      ({ status }) => status,
      () => 'broken off',
    );
    await paused.arrived;
    reset();
    // The program reads the reset before it reads this request, which came later.
    expect((await send(url, '/liveness')).status).toBe(200);
    paused.resume();
    expect(await answer).toBe(expected);
  },
);

test('a caller that dies at any byte of its request leaves nothing behind', manyProcesses, async () => {
  let open = 0;
  let arrived = 0;
  const api = await startUpstream((request, response) => {
    open += 1;
    arrived += 1;
    response.on('close', () => (open -= 1));
    request.on('error', () => {});
    request.resume().on('end', () => response.end());
  });
  const { url } = await startWith(api);
  const lines = `Host: ${new URL(url).host}\r\nService-Auth: true\r\n`;
  const bytes = `POST /x HTTP/1.1\r\n${lines}Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n`;
  for (let length = 1; length < bytes.length; length += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    const before = arrived;
    socket.write(bytes.slice(0, length));
    // The head goes on with the first chunk. Before that, a reset may be faster.
    if (length > bytes.indexOf('56789')) {
      await expect.poll(() => arrived, { timeout: 60_000, interval: 5 }).toBeGreaterThan(before);
    } else await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
  }
  await expect.poll(() => open, { timeout: 60_000 }).toBe(0);
  expect(await ask(url, '/x')).toMatchObject({ status: 200 });
});

test(
  'a request that the API answers 401 is sent once more with another token, if its body was small',
  manyProcesses,
  async () => {
    const serving = await startServing();
    const { url, service } = serving;
    service.api.next({ status: 401 });
    expect(await ask(url, '/api/v1/x')).toMatchObject({ status: 200 });
    expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });

    const bodies: string[] = [];
    const tokens = new Set<string | undefined>();
    const api = await startUpstream(async (request, response) => {
      bodies.push(await bodyOf(request));
      tokens.add(request.headers.authorization);
      response.writeHead(tokens.size === 1 ? 401 : 200, { 'content-type': 'text/plain' }).end('answer');
    });
    for (const [size, status, count] of [
      [1_048_576, 200, 2],
      [1_048_577, 401, 1],
    ] as const) {
      tokens.clear();
      bodies.length = 0;
      const { url } = await startWith(api);
      expect(await ask(url, '/x', { method: 'POST', body: 'x'.repeat(size) })).toMatchObject({
        status,
        body: 'answer',
      });
      expect(bodies.map(({ length }) => length)).toEqual(Array.from({ length: count }, () => size));
      // The next request has another token in any case.
      expect(await ask(url, '/x')).toMatchObject({ status: 200 });
    }
  },
);

test('SERVICE_AUTH_REJECTED_STATUSES says which statuses reject the token, and no other one does', async () => {
  const { url, service, running } = await startServing({ env: { SERVICE_AUTH_REJECTED_STATUSES: '403' } });
  service.api.next({ status: 401 }, { status: 403 });
  expect(await ask(url, '/api/v1/x')).toMatchObject({ status: 401 });
  expect(service.counts).toMatchObject({ issued: 1, apiRequests: 1 });
  expect(await ask(url, '/api/v1/x')).toMatchObject({ status: 200 });
  expect(service.counts).toMatchObject({ issued: 2, apiRequests: 3 });
  expect(running.printed.stderr).not.toContain('SERVICE_AUTH_REJECTED_STATUSES');
});

test('an API that cannot be reached is 502, and without a token the answer is that of the token endpoint', async () => {
  const gone = await startRawUpstream((socket) => socket.destroy());
  const { url } = await startWith(gone);
  expect(await ask(url, '/x')).toMatchObject({ status: 502 });
  const service = await startCanaryService();
  service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '60' } });
  const without = await startServing({ service });
  expect(await ask(without.url, '/api/v1/x')).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
  });
  expect(service.counts.apiRequests).toBe(0);
});

test('without a base URL nothing is forwarded', async () => {
  const { url } = await startServing({ env: { SERVICE_BASE_URL: undefined } });
  expect(await ask(url, '/api/v1/x')).toMatchObject({ status: 404 });
});

test.for([
  ['without a body', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
  ['of HTTP/1.0', 'HTTP/1.0 401 Unauthorized\r\n\r\n'],
  ['with a body that ends with the connection', 'HTTP/1.1 401 Unauthorized\r\n\r\nno'],
] as const)('an API that answers 401 and closes the connection gets the request again: %s', async ([, bytes]) => {
  let answers = 0;
  const api = await startRawUpstream((socket) => {
    answers += 1;
    socket.end(answers === 1 ? bytes : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  });
  const { url } = await startWith(api);
  expect(await ask(url, '/x')).toMatchObject({ status: 200, body: 'ok' });
  expect(answers).toBe(2);
});

test(
  'callers that do not read large answers of an API that closes its connections do the program no harm',
  manyProcesses,
  async () => {
    const part = Buffer.alloc(65_536, 'x');
    const api = await startUpstream((request, response) => {
      const parts = Number(request.url?.slice(1));
      response.writeHead(200, { 'content-length': parts * part.length, connection: 'close' });
      for (let count = 0; count < parts; count += 1) response.write(part);
      response.end();
    });
    const { url } = await startWith(api);
    const { hostname, port } = new URL(url);
    const stalled = Array.from({ length: 40 }, (_, at) => {
      const socket = connect(Number(port), hostname).on('error', () => {});
      socket.pause();
      socket.write(`GET /${50 + at} HTTP/1.1\r\nHost: localhost\r\nService-Auth: true\r\n\r\n`);
      return socket;
    });
    const whole = await ask(url, '/80');
    expect(whole.body).toHaveLength(80 * part.length);
    for (const socket of stalled) socket.destroy();
    expect((await ask(url, '/1')).body).toHaveLength(part.length);
  },
);
