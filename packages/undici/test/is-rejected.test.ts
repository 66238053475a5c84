import { createServer } from 'node:http';
import { createAuth, startService } from '@service-auth/test-support/service';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServiceAuthInterceptorOptions, serviceAuthInterceptor } from '../src/index.ts';
import { copies } from './copies.ts';

type Undici = (typeof copies)[string];
type Rule = NonNullable<ServiceAuthInterceptorOptions['isRejected']>;

/** A dispatcher with a rule. */
async function connect({ Agent }: Undici, isRejected: Rule) {
  const service = await startService();
  const auth = createAuth(service);
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  return {
    service,
    dispatcher: agent.compose(serviceAuthInterceptor(auth, { isRejected })),
    url: `${service.baseUrl}/api/v1/`,
    reports: () => auth.events.filter(({ type }) => type === 'token_rejected').length,
  };
}

describe.each(Object.entries(copies))('isRejected with %s', (_, undici) => {
  test('gets the headers of the answer by their names in lower case', async () => {
    const seen: Parameters<Rule>[0][] = [];
    const { service, dispatcher, url, reports } = await connect(undici, (response) => {
      seen.push(response);
      return response.headers['www-authenticate'] === 'Bearer error="invalid_token"';
    });
    const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"', 'X-Own': ['one', 'two', 'three'] };
    service.api.next({ status: 400, headers: headers as never });
    const { statusCode, body } = await undici.request(url, { dispatcher });
    await body.dump();
    expect(statusCode).toBe(200);
    expect(seen[0]).toMatchObject({ statusCode: 400, headers: { 'x-own': ['one', 'two', 'three'] } });
    expect(seen.map((response) => Object.keys(response))).toEqual(Array(2).fill(['statusCode', 'headers']));
    expect(reports()).toBe(1);
  });

  test('cannot change the headers that the caller gets', async () => {
    const { service, dispatcher, url } = await connect(undici, ({ headers }) => {
      headers['x-own'] = 'changed';
      return false;
    });
    service.api.next({ headers: { 'x-own': 'kept' } });
    const { headers, body } = await undici.request(url, { dispatcher });
    await body.dump();
    expect(headers['x-own']).toBe('kept');
  });

  test.each([0, 100_000, 5_000_000])('an answer of %d bytes waits for its promise, and arrives whole', async (size) => {
    const { service, dispatcher, url, reports } = await connect(undici, () => Promise.resolve(false));
    service.api.next({ status: 200, body: 'x'.repeat(size) });
    const { statusCode, body } = await undici.request(url, { dispatcher });
    expect([statusCode, (await body.text()).length]).toEqual([200, size]);
    expect(reports()).toBe(0);
  });

  test('an answer above 1 MiB is passed on before a promise that is late, and its token is reported all the same', async () => {
    let decide = (_: boolean) => {};
    const { service, dispatcher, url, reports } = await connect(
      undici,
      () => new Promise<boolean>((resolve) => (decide = resolve)),
    );
    service.api.next({ status: 403, body: 'x'.repeat(3_000_000) });
    const { statusCode, body } = await undici.request(url, { dispatcher });
    expect([statusCode, (await body.text()).length]).toEqual([403, 3_000_000]);
    expect(reports()).toBe(0);
    decide(true);
    await expect.poll(reports).toBe(1);
    expect(service.counts.apiRequests).toBe(1);
  });

  test('a caller that aborts while it is asked gets its reason, and the token is not reported', async () => {
    let asked = () => {};
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    const { dispatcher, url, reports } = await connect(undici, () => {
      asked();
      return new Promise<boolean>(() => {});
    });
    const controller = new AbortController();
    const response = undici.request(url, { dispatcher, signal: controller.signal });
    await wasAsked;
    const reason = new Error('changed my mind');
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    expect(reports()).toBe(0);
  });

  test('is not asked about informational answers', async () => {
    const seen: number[] = [];
    const server = createServer((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('answer');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const service = await startService();
    const agent = new undici.Agent();
    onTestFinished(() => agent.destroy());
    const isRejected: Rule = ({ statusCode }) => {
      seen.push(statusCode);
      return false;
    };
    const auth = createAuth(service, { baseUrl: `http://127.0.0.1:${port}` });
    const dispatcher = agent.compose(serviceAuthInterceptor(auth, { isRejected }));
    const { body } = await undici.request(`http://127.0.0.1:${port}/`, { dispatcher });
    expect(await body.text()).toBe('answer');
    expect(seen).toEqual([200]);
  });

  test('is not asked about an answer that a foreign host led to', async () => {
    let count = 0;
    const service = await startService();
    const other = await startService();
    const agent = new undici.Agent();
    onTestFinished(() => agent.destroy());
    const isRejected: Rule = () => {
      count += 1;
      return true;
    };
    const ours = serviceAuthInterceptor(createAuth(service), { isRejected });
    const dispatcher = agent.compose(undici.interceptors.redirect({ maxRedirections: 2 }), ours);
    service.api.next({ status: 302, headers: { location: `${other.baseUrl}/api/v1/` } });
    const { statusCode, body } = await undici.request(`${service.baseUrl}/api/v1/`, { dispatcher });
    await body.dump();
    expect([statusCode, count]).toEqual([401, 0]);
  });
});

test('isRejected that is no function is refused at once', async () => {
  const auth = createAuth(await startService());
  const message = '[service-auth/undici] The option `isRejected` must be a function.';
  expect(() => serviceAuthInterceptor(auth, { isRejected: 403 as never })).toThrow(new TypeError(message));
});
