import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { serviceUnavailable } from '@service-auth/core/http';
import { createAuth, startService } from '@service-auth/test-support/service';
import type { Got, Request, RequestError } from 'got';
import { describe, expect, test } from 'vitest';
import { type ServiceAuthGotOptions, serviceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

type Rule = NonNullable<ServiceAuthGotOptions['isRejected']>;

const expired = { status: 200, body: '{"error":"token_expired"}' };
const broken = new Error('of the rule');

/** An instance of `got` with its own defaults, and a rule. */
async function connect(got: Got, isRejected: Rule) {
  const service = await startService();
  const auth = createAuth(service);
  const rejections = () => auth.events.filter(({ type }) => type === 'token_rejected').length;
  const api = got.extend(serviceAuth(auth, { isRejected }));
  return { service, auth, api, rejections, url: `${service.baseUrl}/api/v1/` };
}

describe.each(Object.entries(copies))('isRejected with %s', (_, got) => {
  const saysExpired: Rule = async ({ body }) => String(body).includes('token_expired');

  test('reads the body of a 200 that says that the token expired', async () => {
    const { service, api, rejections, url } = await connect(got, saysExpired);
    service.api.next(expired);
    expect(await api(url).json()).toMatchObject({ bearer: 'valid' });
    expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    expect(rejections()).toBe(1);
  });

  test('reads the parsed body of a request with the response type json', async () => {
    const rule: Rule = ({ body }) => (body as { error?: string }).error === 'token_expired';
    const { service, api, url } = await connect(got, rule);
    service.api.next(expired);
    const { body } = await api(url, { responseType: 'json' });
    expect(body).toMatchObject({ bearer: 'valid' });
  });

  test('gets status and headers of a stream, and nothing else', async () => {
    const seen: object[] = [];
    const { service, api, url } = await connect(got, (response) => {
      seen.push(response);
      return false;
    });
    service.api.next({ status: 200, headers: { 'x-own': 'own' } });
    await text(api.stream(url));
    expect(seen.map((response) => Object.keys(response))).toEqual([['statusCode', 'headers']]);
    expect(seen).toMatchObject([{ statusCode: 200, headers: { 'x-own': 'own' } }]);
  });

  test('says what the cause of an error is, of a stream as well', async () => {
    const { service, api, rejections, url } = await connect(got, ({ statusCode }) => statusCode === 403);
    service.api.always({ status: 403 });
    const rejected = await api(url).catch((error: unknown) => error);
    expect(rejected).toMatchObject({ name: 'HTTPError', cause: { code: 'ERR_TOKEN_REJECTED' } });
    expect(serviceUnavailable(rejected)).toMatchObject({ status: 503 });
    const ofStream = await text(api.stream(url)).catch((error: unknown) => error);
    expect(ofStream).toMatchObject({ name: 'HTTPError', cause: { code: 'ERR_TOKEN_REJECTED' } });
    expect(rejections()).toBeGreaterThan(1);
    service.api.always({ status: 401 });
    const others = [api(url), text(api.stream(url))].map((sent) => sent.catch((error: RequestError) => error));
    for (const error of await Promise.all(others)) {
      expect(error).toMatchObject({ name: 'HTTPError', response: { statusCode: 401 } });
      expect((error as RequestError).cause).not.toHaveProperty('code');
    }
  });

  test('is asked once about each answer, also when got tries again', async () => {
    const seen: number[] = [];
    const { service, api, url } = await connect(got, ({ statusCode }) => {
      seen.push(statusCode);
      return false;
    });
    service.api.next({ status: 503 });
    await api(url, { retry: { limit: 1, calculateDelay: ({ computedValue }) => computedValue && 1 } });
    service.api.next({ status: 404 });
    await api(url).catch(() => {});
    service.api.next({ status: 404 });
    await text(api.stream(url)).catch(() => {});
    expect(seen).toEqual([503, 200, 404, 404]);
  });

  test.each([200, 403])('fails a request that is answered %d with what it throws', async (status) => {
    const { service, api, rejections, url } = await connect(got, () => {
      throw broken;
    });
    service.api.next({ status });
    const error = await api(url).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'RequestError', message: 'of the rule' });
    expect((error as Error).cause).toBe(broken);
    expect(service.counts.apiRequests).toBe(1);
    expect(rejections()).toBe(0);
  });

  test('fails a stream that is answered 200 with what it throws', async () => {
    const { api, url } = await connect(got, async () => {
      throw broken;
    });
    const stream: Request = api.stream(url);
    const [error] = await once(stream.resume(), 'error');
    expect(error).toMatchObject({ name: 'RequestError', cause: broken });
  });

  test('fails a stream that is answered 403 with what it throws', async () => {
    const { service, api, url } = await connect(got, () => {
      throw broken;
    });
    service.api.next({ status: 403 });
    const error = await text(api.stream(url)).catch((error: unknown) => error);
    expect((error as Error).cause).toBe(broken);
  });
});

test('isRejected that is no function is refused at once', async () => {
  const auth = createAuth(await startService());
  const message = '[service-auth/got] The option `isRejected` must be a function.';
  expect(() => serviceAuth(auth, { isRejected: 403 as never })).toThrow(new TypeError(message));
});
