import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestClock, startTestService, type TestClock, type TestService } from '../src/index.ts';
import { callApi, issueToken, requestToken } from './requests.ts';

let clock: TestClock;
let service: TestService;

beforeEach(async () => {
  clock = createTestClock();
  service = await startTestService({ clock });
});
afterEach(() => service.close());

/** The result of a token request: its status, or the code of the broken connection. */
async function outcome(): Promise<number | string> {
  try {
    const response = await requestToken(service);
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return String((error as { cause?: { code?: string } }).cause?.code);
  }
}

describe('a scripted answer of the token endpoint', () => {
  test('is given once, in the order of the queue, and then the service answers again', async () => {
    service.tokenEndpoint.next({ status: 500 }, { status: 502 });
    service.tokenEndpoint.next({ status: 503 });
    expect([await outcome(), await outcome(), await outcome(), await outcome()]).toEqual([500, 502, 503, 200]);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 4, rejected: 0, refused: 0 });
  });

  test('can stand until it is cleared, after the queue', async () => {
    service.tokenEndpoint.always({ status: 503 });
    service.tokenEndpoint.next({ status: 500 });
    expect([await outcome(), await outcome(), await outcome()]).toEqual([500, 503, 503]);
    service.tokenEndpoint.next({ status: 500 });
    service.tokenEndpoint.clear();
    expect(await outcome()).toBe(200);
  });

  test('can be chosen by a function of the request', async () => {
    let count = 0;
    service.tokenEndpoint.always(async ({ method }) =>
      method === 'POST' && ++count % 2 ? { status: 500 } : undefined,
    );
    expect([await outcome(), await outcome(), await outcome()]).toEqual([500, 200, 500]);
  });

  test('has headers and a body of its own, next to those of the service', async () => {
    service.tokenEndpoint.next({
      status: 429,
      headers: { 'retry-after': '7', 'x-two': ['a', 'b'] },
      body: 'slow down',
    });
    const response = await requestToken(service);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('x-two')).toBe('a, b');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('slow down');
  });

  test('can replace or remove the content type', async () => {
    service.tokenEndpoint.next(
      { headers: { 'content-type': 'text/html' } },
      { headers: { 'content-type': undefined } },
    );
    expect((await requestToken(service)).headers.get('content-type')).toBe('text/html');
    expect((await requestToken(service)).headers.get('content-type')).toBe(null);
    expect(service.counts.issued).toBe(2);
  });

  test('is dated by the clock of the service, unless it is told otherwise', async () => {
    await clock.advance(90_000);
    const dateOf = async () => (await requestToken(service)).headers.get('date');
    expect(await dateOf()).toBe(new Date(clock.now()).toUTCString());
    service.tokenEndpoint.next(
      { headers: { Date: 'Thu, 01 Jan 1970 00:00:00 GMT' } },
      { headers: { Date: undefined } },
    );
    expect([await dateOf(), await dateOf()]).toEqual(['Thu, 01 Jan 1970 00:00:00 GMT', null]);
  });

  test.each([301, 302, 303, 307, 308])('can be a redirect with status %i, and issues nothing', async (status) => {
    service.tokenEndpoint.next({ status, headers: { location: 'http://127.0.0.1:9/' } });
    const response = await requestToken(service);
    expect([response.status, response.headers.get('location')]).toEqual([status, 'http://127.0.0.1:9/']);
    expect(service.counts.issued).toBe(0);
    expect(service.tokenRequests[0]?.outcome).toBe('scripted');
  });

  test('can be bytes, such as a body that grows when it is decoded', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    service.tokenEndpoint.next({ headers: { 'content-encoding': 'gzip' }, body: bomb });
    const response = await requestToken(service);
    expect(response.headers.get('content-length')).toBe(String(bomb.length));
    expect((await response.arrayBuffer()).byteLength).toBe(1_000_000);
  });

  test('can have no body at all', async () => {
    service.tokenEndpoint.next({ status: 204 }, { body: '' });
    expect(await (await requestToken(service)).text()).toBe('');
    const empty = await requestToken(service);
    expect([empty.status, await empty.text()]).toEqual([200, '']);
  });

  test('does not hide a malformed request, which is still reported', async () => {
    service.tokenEndpoint.next({ status: 503 });
    expect((await requestToken(service, { extra: 1 })).status).toBe(503);
    expect(service.tokenRequests[0]).toMatchObject({ outcome: 'rejected', problems: ['"extra": unknown field'] });
  });

  test('that is impossible makes close() reject, so that the mistake is seen', async () => {
    const mistaken = await startTestService();
    mistaken.tokenEndpoint.always(() => {
      throw new Error('mistake in the test');
    });
    await expect(requestToken(mistaken)).rejects.toThrow();
    await expect(mistaken.close()).rejects.toThrow('mistake in the test');
  });
});

describe('whether a token is issued', () => {
  test('follows from the status: 2xx issues, whatever the body says', async () => {
    service.tokenEndpoint.next({ status: 201 }, { body: '<html>' }, { status: 400 }, { status: 503 });
    const created = await requestToken(service);
    expect([created.status, await created.json()]).toEqual([201, expect.objectContaining({ token_type: 'Bearer' })]);
    expect(await (await requestToken(service)).text()).toBe('<html>');
    expect(service.counts.issued).toBe(2);
    await requestToken(service);
    await requestToken(service);
    expect(service.counts.issued).toBe(2);
  });

  test('can be said: an error after issuing, which tells no token, and a success without', async () => {
    service.tokenEndpoint.next({ status: 502, issue: true }, { body: '{}', issue: false });
    const failed = await requestToken(service);
    expect(failed.status).toBe(502);
    expect(service.findSecrets(await failed.text())).toEqual([]);
    expect(service.counts.issued).toBe(1);
    expect(await (await requestToken(service)).text()).toBe('{}');
    expect(service.counts.issued).toBe(1);
    expect(service.tokenRequests.map(({ outcome }) => outcome)).toEqual(['issued', 'scripted']);
  });

  test('never goes beyond the limit', async () => {
    await using limited = await startTestService({ issuanceLimit: { tokens: 1 } });
    await requestToken(limited);
    limited.tokenEndpoint.next({ status: 502, issue: true });
    await requestToken(limited);
    expect(limited.counts).toMatchObject({ issued: 1, refused: 1 });
  });
});

describe('the token response', () => {
  const fieldsOf = async () => (await (await requestToken(service)).json()) as Record<string, unknown>;

  test.each([0, -1, 1.5, '86400', null, true, [86_400], {}])('can say expires_in: %j', async (value) => {
    service.tokenEndpoint.next({ fields: { expires_in: value } });
    expect(await fieldsOf()).toMatchObject({ token_type: 'Bearer', expires_in: value });
  });

  test('can lack a field, have another one, or another token', async () => {
    service.tokenEndpoint.next({ fields: { token_type: undefined, scope: 'all', access_token: 'a b' } });
    expect(await fieldsOf()).toEqual({ access_token: 'a b', expires_in: 86_400, scope: 'all' });
  });

  test('can be for a shorter life, which the API knows', async () => {
    service.tokenEndpoint.next({ lifetimeMs: 30_000 });
    const { expires_in: seconds, access_token: token } = await fieldsOf();
    expect(seconds).toBe(30);
    await clock.advance(29_999);
    expect((await callApi(service, `${token}`)).status).toBe(200);
    await clock.advance(1);
    expect((await callApi(service, `${token}`)).status).toBe(401);
  });

  test('is for as long as the service is told at its start', async () => {
    await using short = await startTestService({ lifetimeMs: 600_000 });
    const { expires_in: seconds } = (await (await requestToken(short)).json()) as { expires_in: number };
    expect(seconds).toBe(600);
  });
});

describe('a connection', () => {
  test('can be reset before the request is handled: nothing is issued', async () => {
    service.tokenEndpoint.next({ cut: 'request' });
    expect(await outcome()).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(service.counts).toMatchObject({ issued: 0, tokenRequests: 1 });
    expect(service.tokenRequests[0]?.outcome).toBe('pending');
  });

  test('can be lost after issuing, before the first byte of the answer', async () => {
    service.tokenEndpoint.next({ cut: 'answer' });
    expect(await outcome()).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
  });

  test('can be lost in the middle of the answer', async () => {
    service.tokenEndpoint.next({ cut: 'body', body: 'first half, second half' });
    const response = await requestToken(service);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toBe('first half,');
    await expect(reader?.read()).rejects.toThrow();
    expect(service.counts.issued).toBe(1);
  });

  test('can break at the API as well', async () => {
    const token = await issueToken(service);
    service.api.next({ cut: 'request' }, { cut: 'answer' });
    await expect(callApi(service, token)).rejects.toThrow();
    await expect(callApi(service, token)).rejects.toThrow();
    expect(service.counts.apiRequests).toBe(2);
  });
});

describe('time', () => {
  test('passes between request and answer on the clock of the service alone', async () => {
    service.tokenEndpoint.next({ delayMs: 25_000 });
    let answered = false;
    const response = requestToken(service).finally(() => {
      answered = true;
    });
    await service.until(({ issued }) => issued === 1);
    await clock.advance(24_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect((await response).status).toBe(200);
  });

  test('can pass before the request is handled, so that the token is issued late', async () => {
    const sentAt = clock.now();
    service.tokenEndpoint.next({ delayMs: 25_000, waitBefore: 'handling' });
    const response = requestToken(service);
    await service.until(({ tokenRequests }) => tokenRequests === 1);
    expect(service.counts.issued).toBe(0);
    await clock.advance(25_000);
    await response;
    expect(service.issuances[0]?.at).toBe(sentAt + 25_000);
  });

  test('leaves no timer behind when the service closes', async () => {
    const closing = await startTestService({ clock });
    closing.tokenEndpoint.next({ delayMs: 3_600_000 });
    const response = requestToken(closing);
    await closing.until(({ issued }) => issued === 1);
    await clock.advance(0);
    expect(clock.pendingTimers).toEqual({ background: 1, foreground: 0 });
    await closing.close();
    await expect(response).rejects.toThrow();
    expect(clock.pendingTimers).toEqual({ background: 0, foreground: 0 });
  });
});

describe('a paused request', () => {
  test('keeps the answer back until the test releases it; the token is issued by then', async () => {
    const paused = service.tokenEndpoint.pauseNext();
    const response = requestToken(service);
    await paused.arrived;
    expect(service.counts.issued).toBe(1);
    paused.resume();
    expect((await response).status).toBe(200);
  });

  test('can keep the request from being handled', async () => {
    const paused = service.tokenEndpoint.pauseNext({ waitBefore: 'handling' });
    const response = requestToken(service);
    await paused.arrived;
    expect([service.counts.issued, service.tokenRequests[0]?.outcome]).toEqual([0, 'pending']);
    paused.resume();
    expect((await response).status).toBe(200);
    expect(service.tokenRequests[0]?.outcome).toBe('issued');
  });

  test('goes with any other answer', async () => {
    const paused = service.tokenEndpoint.pauseNext({ status: 503 });
    const response = requestToken(service);
    await paused.arrived;
    paused.resume();
    expect((await response).status).toBe(503);
  });

  test('does not delay other requests', async () => {
    const paused = service.tokenEndpoint.pauseNext();
    const first = requestToken(service);
    await paused.arrived;
    expect(await outcome()).toBe(200);
    paused.resume();
    await first;
  });

  test('survives a client that goes away, and the token stays issued', async () => {
    const paused = service.tokenEndpoint.pauseNext();
    const controller = new AbortController();
    const response = requestToken(service, {}, { signal: controller.signal });
    await paused.arrived;
    controller.abort();
    await expect(response).rejects.toThrow();
    paused.resume();
    expect(await outcome()).toBe(200);
    expect(service.counts.issued).toBe(2);
  });

  test('ends when the service closes', async () => {
    const closing = await startTestService();
    const paused = closing.tokenEndpoint.pauseNext();
    const response = requestToken(closing);
    await paused.arrived;
    await closing.close();
    await expect(response).rejects.toThrow();
  });
});

describe('a mistake in a scripted answer', () => {
  test.each([
    [{ statsu: 503 }, 'A scripted answer has no field statsu. Its fields: status, headers, body,'],
    [{ status: '503' }, 'The field status of a scripted answer must be an integer from 200 to 999.'],
    [{ status: 100 }, 'must be an integer from 200 to 999'],
    [{ headers: 'retry-after: 1' }, 'The field headers of a scripted answer must be an object'],
    [{ body: { orders: [] } }, 'write objects with JSON.stringify()'],
    [{ delayMs: -1 }, 'must be 0 to 3,600,000 milliseconds'],
    [{ delayMs: Number.NaN }, 'must be 0 to 3,600,000 milliseconds'],
    [{ waitBefore: 'sending' }, "must be 'handling' or 'answering'"],
    [{ cut: true }, "must be 'request', 'answer' or 'body'"],
    [{ issue: 1 }, 'The field issue of a scripted answer must be a boolean.'],
    [{ fields: [] }, 'The field fields of a scripted answer must be an object.'],
    [{ lifetimeMs: '1h' }, 'must be a number of milliseconds'],
    [503, 'A scripted answer must be an object such as { status: 503 }.'],
  ])('is told at once: %j', (answer, message) => {
    for (const give of ['next', 'always', 'pauseNext'] as const) {
      expect(() => service.tokenEndpoint[give](answer as never)).toThrow(message);
    }
  });

  test('a field of the token endpoint is none of the API', () => {
    expect(() => service.api.next({ lifetimeMs: 1 } as never)).toThrow('has no field lifetimeMs');
    expect(() => service.api.next({ status: undefined, headers: undefined })).not.toThrow();
  });

  test('that a function makes breaks the connection, and close() tells it', async () => {
    const own = await startTestService();
    own.api.always(() => ({ body: { orders: [] } }) as never);
    await expect(fetch(`${own.baseUrl}/api/v1/orders`)).rejects.toThrow('fetch failed');
    await expect(own.close()).rejects.toThrow('write objects with JSON.stringify()');
  });
});

describe('a scripted answer of the API', () => {
  test('without a status still needs a valid token; with one it needs none', async () => {
    const token = await issueToken(service);
    service.api.always({ body: '[]' });
    expect((await callApi(service)).status).toBe(401);
    expect((await callApi(service, token)).status).toBe(200);
    service.api.always({ status: 201, body: '[]' });
    expect((await callApi(service)).status).toBe(201);
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['none', 'valid', 'none']);
  });
});
