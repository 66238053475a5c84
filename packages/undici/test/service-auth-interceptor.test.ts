import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { createAuth, startForeign, startService, startTwoApis } from '@service-auth/test-support/service';
import FormDataStream from 'form-data';
import type { Dispatcher } from 'undici';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serviceAuthInterceptor } from '../src/index.ts';
import { copies } from './copies.ts';

type Undici = (typeof copies)[string];
type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type AnyHeaders = NonNullable<Dispatcher.DispatchOptions['headers']>;

function createAgent({ Agent }: Undici, ...interceptors: Interceptor[]): Dispatcher {
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  return agent.compose(...interceptors);
}

/** Counts what arrives of bodies, below the interceptors that are listed after it. */
function createCounter(): { readonly bytes: number; readonly interceptor: Interceptor } {
  let bytes = 0;
  const isData = (name: string) => name === 'onData' || name === 'onResponseData';
  const interceptor: Interceptor = (dispatch) => (options, handler) => {
    const get = (_: object, name: string) => {
      const method = Reflect.get(handler, name);
      if (typeof method !== 'function') return method;
      return (...details: unknown[]) => {
        const chunk = details.find((detail) => detail instanceof Uint8Array);
        if (isData(name) && chunk) bytes += chunk.length;
        return Reflect.apply(method, handler, details);
      };
    };
    return dispatch(options, new Proxy({}, { get }) as Dispatcher.DispatchHandler);
  };
  return {
    get bytes() {
      return bytes;
    },
    interceptor,
  };
}

describe.each(Object.entries(copies))('with %s', (_, undici) => {
  const { request, interceptors } = undici;
  const follow = () => interceptors.redirect({ maxRedirections: 5 });

  test('an interceptor sees the token only if it is listed first, because compose() asks the last one first', async () => {
    const service = await startService();
    const seen: string[] = [];
    const note =
      (name: string): Interceptor =>
      (dispatch) =>
      (options, handler) => {
        const hasToken = JSON.stringify(options.headers ?? {}).includes('authorization');
        seen.push(`${name} sees ${hasToken ? 'the' : 'no'} token`);
        return dispatch(options, handler);
      };
    const ours = serviceAuthInterceptor(createAuth(service));
    const dispatcher = createAgent(undici, note('first'), ours, note('last'));
    const { body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
    await body.dump();
    expect(seen).toEqual(['last sees no token', 'first sees the token']);
  });

  /** A client whose token is no longer accepted. */
  async function revoked(compose = (ours: Interceptor): Interceptor[] => [ours]) {
    const service = await startService();
    const auth = createAuth(service);
    const dispatcher = createAgent(undici, ...compose(serviceAuthInterceptor(auth)));
    await auth.getToken();
    service.revoke('all');
    return { service, auth, dispatcher };
  }

  describe('headers', () => {
    const shapes: [shape: string, make: (name: string) => unknown][] = [
      ['an object', (name) => ({ [name]: '1' })],
      ['a list', (name) => [name, '1']],
      ['a Map', (name) => new Map([[name, '1']])],
      ['a Headers', (name) => new undici.Headers([[name, '1']])],
      ['an iterator, which can be read once', (name) => new Map([[name, '1']]).entries()],
    ];

    test.each(shapes)('%s is completed by the token, and stays as it is', async (_, make) => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const headers = make('X-One') as AnyHeaders;
      const before = JSON.stringify(headers);
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher, headers });
      await body.dump();
      expect(statusCode).toBe(200);
      expect(service.apiRequests[0]?.headers).toMatchObject({ 'x-one': '1' });
      expect(JSON.stringify(headers)).toBe(before);
    });

    test.each(['authorization: Bearer own', 5])('%j is no headers, and undici says so', async (headers) => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const sent = request(`${service.baseUrl}/api/v1/`, { dispatcher, headers: headers as never });
      await expect(sent).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
      expect(service.counts).toMatchObject({ tokenRequests: 0, apiRequests: 0 });
    });

    test('pairs with the same name twice arrive twice, and a Host as it is', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const pairs = ['1', '2', '3'].map((value) => ['x-one', value]);
      const headers = [...pairs, ['host', 'api.example']].values() as never;
      const { body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher, headers });
      await body.dump();
      expect(service.apiRequests[0]).toMatchObject({
        bearer: 'valid',
        headers: { 'x-one': '1, 2, 3', host: 'api.example' },
      });
    });

    test.each(shapes)('%s with an Authorization goes out without a token', async (_, make) => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const headers = make('AUTHORIZATION') as AnyHeaders;
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher, headers });
      await body.dump();
      expect(statusCode).toBe(401);
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['invalid']);
      expect(service.counts.tokenRequests).toBe(0);
    });

    test('no list is taken for one with an Authorization because a value says so', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const headers = ['x-one', 'authorization', 'x-two', '2'];
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher, headers });
      await body.dump();
      expect(statusCode).toBe(200);
    });
  });

  test('a handler gets the calls that it gets without the interceptor', async () => {
    const service = await startService();
    const origin = service.baseUrl;
    const callsOf = async (dispatcher: Dispatcher) => {
      const calls: string[] = [];
      await new Promise<void>((resolve) => {
        const get = (_: object, name: string) => () => {
          if (!calls.includes(name)) calls.push(name);
          if (name === 'onComplete' || name === 'onResponseEnd') resolve();
          return true;
        };
        const handler = new Proxy({}, { get }) as Dispatcher.DispatchHandler;
        dispatcher.dispatch({ origin, path: '/api/v1/', method: 'POST', body: 'text' }, handler);
      });
      return calls;
    };
    const withoutOurs = await callsOf(createAgent(undici));
    expect(await callsOf(createAgent(undici, serviceAuthInterceptor(createAuth(service))))).toEqual(withoutOurs);
    expect(withoutOurs.length).toBeGreaterThan(4);
  });

  describe('beside interceptors.redirect()', () => {
    const orders: [order: string, compose: (ours: Interceptor) => Interceptor[]][] = [
      ['listed before it', (ours) => [ours, follow()]],
      ['listed after it', (ours) => [follow(), ours]],
    ];

    test.each(orders)('%s, the token stays within the API', async (_, compose) => {
      const service = await startService();
      const foreign = await startForeign();
      const auth = createAuth(service);
      const dispatcher = createAgent(undici, ...compose(serviceAuthInterceptor(auth)));
      service.api.next({ status: 302, headers: { location: '/api/v1/on' } });
      service.api.next({ status: 302, headers: { location: foreign.url } });
      foreign.answers.next({ status: 401 });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(401);
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'valid']);
      expect(foreign.received).not.toMatch(/authorization/i);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
    });

    test.each(orders)('%s, a redirect to a foreign host and back does not reject the token', async (_, compose) => {
      const service = await startService();
      const foreign = await startForeign();
      const auth = createAuth(service);
      const dispatcher = createAgent(undici, ...compose(serviceAuthInterceptor(auth)));
      service.api.next({ status: 302, headers: { location: foreign.url } });
      foreign.answers.next({ status: 302, headers: { location: `${service.baseUrl}/api/v1/back` } });
      const { body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(service.apiRequests.map(({ path }) => path)).toEqual(['/api/v1/', '/api/v1/back']);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
    });

    const hops = [301, 302, 303, 307, 308].flatMap((status) =>
      (['GET', 'POST'] as const).map((method) => [method, status] as const),
    );

    describe.each(hops)('a %s answered %d and then 401', (method, status) => {
      async function redirectToRejection(compose: (ours: Interceptor) => Interceptor[]) {
        const { service, dispatcher } = await revoked(compose);
        service.api.always(({ path }) =>
          path === '/api/v1/' ? { status, headers: { location: '/api/v1/on' } } : undefined,
        );
        const send = () =>
          request(`${service.baseUrl}/api/v1/`, { dispatcher, method, body: method === 'POST' ? 'an order' : null });
        const { statusCode, body } = await send();
        await body.dump();
        const paths = service.apiRequests.map(({ path }) => path);
        const next = await send();
        await next.body.dump();
        expect(next.statusCode).toBe(200);
        expect(service.counts.issued).toBe(2);
        return { statusCode, paths };
      }

      test('is sent again from the last hop, if the interceptor is listed before it', async () => {
        expect(await redirectToRejection((ours) => [ours, follow()])).toEqual({
          statusCode: 200,
          paths: ['/api/v1/', '/api/v1/on', '/api/v1/on'],
        });
      });

      test('is not sent again if the interceptor is listed after it, and the next request has another token', async () => {
        expect(await redirectToRejection((ours) => [follow(), ours])).toEqual({
          statusCode: 401,
          paths: ['/api/v1/', '/api/v1/on'],
        });
      });
    });

    test.each(orders)('%s, a 401 without a redirect leads to another token', async (_, compose) => {
      const { service, dispatcher } = await revoked(compose);
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(200);
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    });

    test('listed before it, the token does not leave the path of baseUrl', async () => {
      const service = await startService();
      const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` });
      const dispatcher = createAgent(undici, serviceAuthInterceptor(auth), follow());
      service.api.next({ status: 302, headers: { location: '/api/v1/others' } });
      const { body } = await request(`${service.baseUrl}/api/v1/items/1`, { dispatcher });
      await body.dump();
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'none']);
    });
  });

  describe('beside interceptors.retry()', () => {
    const retry = () => interceptors.retry({ maxRetries: 2, minTimeout: 1, maxTimeout: 1 });
    const orders: [order: string, compose: (ours: Interceptor) => Interceptor[]][] = [
      ['listed before it', (ours) => [ours, retry()]],
      ['listed after it', (ours) => [retry(), ours]],
    ];

    test.each(orders)('%s, both do their part', async (_, compose) => {
      const { service, dispatcher } = await revoked(compose);
      service.api.next({ status: 503 });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(await body.json()).toMatchObject({ bearer: 'valid' });
      expect(statusCode).toBe(200);
      expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['revoked', 'revoked', 'valid']);
    });

    test('listed after it, what is left of an answer that was cut is asked for with the token', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, retry(), serviceAuthInterceptor(createAuth(service)));
      service.api.next({ body: 'text', cut: 'body' }, { status: 500 });
      const headers = new Map([['x-one', '1']]) as AnyHeaders;
      const sent = request(`${service.baseUrl}/api/v1/`, { dispatcher, headers }).then(({ body }) => body.text());
      await sent.catch(() => {});
      const facts = service.apiRequests.map(({ bearer, headers }) => `${bearer} ${headers['x-one']}`);
      expect(facts.slice(0, 2)).toEqual(['valid 1', 'valid 1']);
    });

    test.each(orders)('%s, errors of ours are not retried', async (_, compose) => {
      const service = await startService();
      service.tokenEndpoint.always({ status: 403 });
      const dispatcher = createAgent(undici, ...compose(serviceAuthInterceptor(createAuth(service))));
      await expect(request(`${service.baseUrl}/api/v1/`, { dispatcher })).rejects.toMatchObject({
        code: 'ERR_CREDENTIALS_REJECTED',
      });
      expect(service.counts.tokenRequests).toBe(1);
    });
  });

  test.each([
    ['listed before it', (ours: Interceptor) => [ours, interceptors.dump()]],
    ['listed after it', (ours: Interceptor) => [interceptors.dump(), ours]],
  ])('beside interceptors.dump(), %s, a 401 is followed by a resend', async (_, compose) => {
    const { service, dispatcher } = await revoked(compose);
    const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
    await body.dump();
    expect(statusCode).toBe(200);
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['revoked', 'valid']);
  });

  describe('below the fetch of undici', () => {
    test('each redirect is judged anew, and a 401 is followed by a resend', async () => {
      const service = await startService();
      const foreign = await startForeign();
      const auth = createAuth(service);
      const dispatcher = createAgent(undici, serviceAuthInterceptor(auth));
      await auth.getToken();
      service.revoke('all');
      const response = await undici.fetch(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(await response.json()).toMatchObject({ bearer: 'valid' });
      service.api.next({ status: 302, headers: { location: foreign.url } });
      expect((await undici.fetch(`${service.baseUrl}/api/v1/`, { dispatcher })).status).toBe(200);
      expect(foreign.received).not.toMatch(/authorization/i);
    });

    test('an error of ours is the cause of that of fetch', async () => {
      const service = await startService();
      service.tokenEndpoint.always({ status: 503 });
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const response = undici.fetch(`${service.baseUrl}/api/v1/`, { dispatcher });
      await expect(response).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ERR_TOKEN_ENDPOINT' } });
    });

    test('a body is a stream: its 401 is returned', async () => {
      const { service, dispatcher } = await revoked();
      const init = { dispatcher, method: 'POST', body: 'text' };
      expect((await undici.fetch(`${service.baseUrl}/api/v1/`, init)).status).toBe(401);
      expect((await undici.fetch(`${service.baseUrl}/api/v1/`, init)).status).toBe(200);
      expect(service.apiRequests.map(({ body }) => body.text)).toEqual(['text', 'text']);
    });
  });

  describe('a 401', () => {
    test('that is returned comes whole', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const content = Buffer.alloc(1_000_000, 'x');
      service.api.always({ status: 401, body: content });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(statusCode).toBe(401);
      expect((await buffer(body)).equals(content)).toBe(true);
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    });

    test('of more than a mebibyte is returned whole if there is no other token by then', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const dispatcher = createAgent(undici, serviceAuthInterceptor(auth));
      await auth.getToken();
      const content = Buffer.alloc(20_000_000, 'x');
      service.api.next({ status: 401, body: content });
      const paused = service.tokenEndpoint.pauseNext();
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(statusCode).toBe(401);
      expect((await buffer(body)).equals(content)).toBe(true);
      paused.resume();
      const next = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(await next.body.json()).toMatchObject({ bearer: 'valid' });
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
    });

    test('of more than a mebibyte ends if interceptors.dump() refuses it before another token comes', async () => {
      const api = createServer((_, response) => {
        response.statusCode = 401;
        // Without its length, which interceptors.dump() would refuse.
        response.write(Buffer.alloc(2_000_000, 'x'));
        response.end();
      });
      onTestFinished(() => void api.close());
      await once(api.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
      const service = await startService();
      const auth = createAuth(service, { baseUrl: url });
      await auth.getToken();
      const paused = service.tokenEndpoint.pauseNext();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(auth), interceptors.dump());
      const response = undici.fetch(url, { dispatcher });
      const ended = response.then(async (answer) => `${answer.status} ${await answer.text()}`);
      // That of undici 6 ends the body without an error, those of later versions with one.
      expect(await ended.catch(({ cause }) => cause.message)).toMatch(/^401 $|larger than maxSize/);
      paused.resume();
    });

    test('of more than a mebibyte is read no faster than by the caller', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const counter = createCounter();
      const dispatcher = createAgent(undici, counter.interceptor, serviceAuthInterceptor(auth));
      await auth.getToken();
      service.api.next({ status: 401, body: Buffer.alloc(20_000_000, 'x') });
      const paused = service.tokenEndpoint.pauseNext();
      const { body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      // Time enough for all of it to arrive.
      for (let count = 0; count < 50; count++) await (await fetch(`${service.baseUrl}/api/v1/`)).text();
      expect(counter.bytes).toBeLessThan(2_000_000);
      paused.resume();
      await body.dump();
    });

    test('to a form of the package form-data, which is a stream, is returned', async () => {
      const { service, dispatcher } = await revoked();
      const post = () => {
        const form = new FormDataStream();
        form.append('text', 'Grüße');
        const headers = form.getHeaders();
        return request(`${service.baseUrl}/api/v1/`, { dispatcher, method: 'POST', body: form as never, headers });
      };
      for (const status of [401, 200]) {
        const { statusCode, body } = await post();
        await body.dump();
        expect(statusCode).toBe(status);
      }
      expect(service.apiRequests.every(({ body }) => body.text.includes('Grüße'))).toBe(true);
    });

    test('leaves its connection to the resend', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const connected = vi.fn();
      const agent = new undici.Agent({ connections: 1 });
      onTestFinished(() => agent.destroy());
      agent.on('connect', connected);
      const dispatcher = agent.compose(serviceAuthInterceptor(auth));
      await auth.getToken();
      service.revoke('all');
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(200);
      expect(connected).toHaveBeenCalledTimes(1);
    });

    test('that breaks off is followed by the resend', async () => {
      const { service, dispatcher } = await revoked();
      service.api.next({ cut: 'body' });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(200);
    });

    test('that breaks off is returned as far as it came if there is no other token', async () => {
      const { service, dispatcher } = await revoked();
      service.tokenEndpoint.always({ status: 503 });
      service.api.next({ cut: 'body' });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(statusCode).toBe(401);
      await expect(body.text()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    });

    test.each(['fetch', 'request', 'stream'] as const)(
      'that breaks off while it waits for a token that does not come is returned by %s, and its body ends',
      async (method) => {
        const { service, dispatcher } = await revoked(method === 'stream' ? (ours) => [ours, follow()] : undefined);
        const url = `${service.baseUrl}/api/v1/`;
        const paused = service.tokenEndpoint.pauseNext({ status: 503 });
        service.api.next({ status: 401, body: 'x'.repeat(20_000), cut: 'body' });
        const bodies = {
          fetch: async () => (await undici.fetch(url, { dispatcher })).text(),
          request: async () => (await request(url, { dispatcher })).body.text(),
          stream: async () =>
            undici.stream(url, { method: 'GET', dispatcher }, () => new Writable({ write: (_, __, done) => done() })),
        };
        const ended = bodies[method]().then(
          () => 'whole',
          () => 'broken off',
        );
        await paused.arrived;
        // The end of the connection reaches the client before the answers to these requests.
        for (let count = 0; count < 20; count++) await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
        paused.resume();
        expect(await ended).toBe('broken off');
      },
    );

    test('that is aborted without a reason while it waits for a token ends with an error', async () => {
      const { service, dispatcher } = await revoked();
      const paused = service.tokenEndpoint.pauseNext();
      let abort = () => {};
      const error = new Promise<unknown>((resolve) => {
        const handler = {
          onConnect(own: () => void) {
            abort = own;
          },
          onRequestStart(controller: { abort(): void }) {
            abort = () => controller.abort();
          },
          onHeaders: () => true,
          onData: () => true,
          onError: resolve,
          onResponseError: (_: unknown, reason: unknown) => resolve(reason),
        };
        dispatcher.dispatch({ origin: service.baseUrl, path: '/api/v1/', method: 'GET' }, handler as never);
      });
      await paused.arrived;
      abort();
      expect(await error).toMatchObject({
        name: 'AbortError',
        code: 'UND_ERR_ABORTED',
        message: 'Request aborted',
      });
      paused.resume();
    });

    test('that is aborted by its handler when it is passed on has no body any more', async () => {
      const { service, dispatcher } = await revoked();
      service.tokenEndpoint.always({ status: 503 });
      const seen: string[] = [];
      let abort = () => {};
      const ended = new Promise<void>((resolve) => {
        const handler = {
          onConnect(own: () => void) {
            abort = own;
          },
          onRequestStart: () => {},
          onHeaders: () => abort(),
          onResponseStart: (controller: { abort(reason: Error): void }) => controller.abort(new Error('enough')),
          onData: () => seen.push('data'),
          onResponseData: () => seen.push('data'),
          onComplete: () => seen.push('end'),
          onResponseEnd: () => seen.push('end'),
          onError: () => resolve(),
          onResponseError: () => resolve(),
        };
        dispatcher.dispatch({ origin: service.baseUrl, path: '/api/v1/', method: 'GET' }, handler as never);
      });
      await ended;
      expect(seen).toEqual([]);
    });

    test.each([
      ['has arrived', {}],
      ['is on its way', { headers: { 'content-length': '1000000' }, body: 'the rest never comes' }],
    ])('that is aborted by an event emitter when it %s ends at once, and is not sent again', async (_, answer) => {
      const service = await startService();
      const auth = createAuth(service);
      const counter = createCounter();
      const dispatcher = createAgent(undici, counter.interceptor, serviceAuthInterceptor(auth));
      await auth.getToken();
      service.api.next({ status: 401, ...answer });
      const paused = service.tokenEndpoint.pauseNext();
      const signal = new EventEmitter();
      const response = request(`${service.baseUrl}/api/v1/`, { dispatcher, signal });
      await paused.arrived;
      await vi.waitUntil(() => counter.bytes > 0, 20_000);
      signal.emit('abort');
      await expect(response).rejects.toMatchObject({ code: 'UND_ERR_ABORTED' });
      paused.resume();
      await auth.getToken();
      expect(service.counts.apiRequests).toBe(1);
    });

    test('to an upgrade is reported, and fails as undici has it', async () => {
      const { service, auth, dispatcher } = await revoked();
      service.tokenEndpoint.always({ status: 503 });
      const upgraded = undici.upgrade(`${service.baseUrl}/api/v1/`, { dispatcher, protocol: 'Websocket' });
      await expect(upgraded).rejects.toMatchObject({ code: 'UND_ERR_SOCKET', message: 'bad upgrade' });
      expect(auth.events.map(({ type }) => type)).toContain('token_rejected');
    });

    test('has its trailers', async () => {
      const service = await startService();
      const api = createServer((_, response) => {
        response.writeHead(401, { trailer: 'x-one' }).write('text');
        response.addTrailers({ 'x-one': '1' });
        response.end();
      });
      onTestFinished(() => void api.close());
      await once(api.listen(0, '127.0.0.1'), 'listening');
      const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service, { baseUrl })));
      const { statusCode, body, trailers } = await request(baseUrl, { dispatcher });
      expect([statusCode, await body.text()]).toEqual([401, 'text']);
      expect(trailers).toEqual({ 'x-one': '1' });
    });

    test('that never ends delays neither the resend nor the end of the agent', async () => {
      const service = await startService();
      const agent = new undici.Agent();
      const dispatcher = agent.compose(serviceAuthInterceptor(createAuth(service)));
      const headers = { 'content-length': '1000000' };
      service.api.next({ status: 401, headers, body: 'the rest never comes' });
      const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      await body.dump();
      expect(statusCode).toBe(200);
      await agent.close();
    });

    test('of a mock, which knows no pause, is handled alike', async () => {
      const service = await startService();
      const auth = createAuth(service);
      const mock = new undici.MockAgent();
      onTestFinished(() => mock.close());
      mock.disableNetConnect();
      const pool = mock.get(service.baseUrl);
      const intercepted = () => pool.intercept({ path: '/api/v1/', headers: { authorization: /^Bearer / } });
      const dispatcher = mock.compose(serviceAuthInterceptor(auth));

      intercepted().reply(401, 'first');
      intercepted().reply(200, 'second');
      const resent = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect(await resent.body.text()).toBe('second');
      intercepted().reply(401, 'third');
      const returned = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
      expect([returned.statusCode, await returned.body.text()]).toEqual([401, 'third']);
      expect(service.counts.issued).toBe(2);
    });
  });

  describe('a wait for a token', () => {
    test('rejects with the reason of the signal', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const paused = service.tokenEndpoint.pauseNext();
      const controller = new AbortController();
      const response = request(`${service.baseUrl}/api/v1/`, { dispatcher, signal: controller.signal });
      await paused.arrived;
      const reason = new Error('changed my mind');
      controller.abort(reason);
      await expect(response).rejects.toBe(reason);
      paused.resume();
      expect(service.counts.apiRequests).toBe(0);
    });

    test('ends in an abort by an event emitter once the token is there', async () => {
      const service = await startService();
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const paused = service.tokenEndpoint.pauseNext();
      const signal = new EventEmitter();
      const response = request(`${service.baseUrl}/api/v1/`, { dispatcher, signal });
      await paused.arrived;
      signal.emit('abort');
      paused.resume();
      await expect(response).rejects.toMatchObject({ code: 'UND_ERR_ABORTED' });
      expect(service.counts.apiRequests).toBe(0);
    });

    test('that fails destroys the stream that was to be sent', async () => {
      const service = await startService();
      service.tokenEndpoint.always({ status: 503 });
      const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
      const body = Readable.from(['text']);
      const response = request(`${service.baseUrl}/api/v1/`, { dispatcher, method: 'POST', body });
      await expect(response).rejects.toMatchObject({ code: 'ERR_TOKEN_ENDPOINT' });
      expect(body.destroyed).toBe(true);
    });
  });

  test('a path that is sent with dots or a fragment in it has no token: a server could resolve it to another one', async () => {
    const seen: [path: string | undefined, hasToken: boolean][] = [];
    const server = createServer(({ url, headers }, response) => {
      seen.push([url, headers.authorization !== undefined]);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const auth = createAuth(await startService(), { baseUrl: `${origin}/api/v1` });
    const dispatcher = createAgent(undici, serviceAuthInterceptor(auth));
    const without = [
      '/api/v1/a//../../admin',
      '/api/v1/a/..//../admin',
      '/api/v1/a/./..//../admin',
      '/admin/../api/v1/x',
      '/other/%2e%2e/api/v1/x',
      '//../api/v1/x',
      '/./api/v1/x',
      '/admin/;/../../api/v1/x',
      '/api/v1/a//.%2E/../admin',
      '/api/v1/x#/../../admin',
      '/admin\\..\\api/v1/x',
      '/api/v1/..%25%32%66admin',
      '/api/v1x',
    ];
    const withToken = [
      '/api/v1',
      '/api/v1/x//y',
      '/api/v1/x/.',
      '/api/v1/{id}?q="a"',
      '/api/v1/x?to=/../../admin',
      '/api/v1/a..b',
    ];
    for (const path of [...without, ...withToken]) {
      await (await dispatcher.request({ origin, path, method: 'GET' })).body.dump();
    }
    expect(seen).toEqual([...without.map((path) => [path, false]), ...withToken.map((path) => [path, true])]);
  });

  test('what undici refuses to send reaches the caller', async () => {
    const service = await startService();
    const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
    const headers = { 'x-one': 'a\nb' };
    await expect(request(`${service.baseUrl}/api/v1/`, { dispatcher, headers })).rejects.toMatchObject({
      code: 'UND_ERR_INVALID_ARG',
    });
  });

  test('stream() and pipeline() get the token, too', async () => {
    const service = await startService();
    const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
    const url = `${service.baseUrl}/api/v1/`;
    const statuses: number[] = [];
    await undici.stream(url, { dispatcher, method: 'GET' }, ({ statusCode }) => {
      statuses.push(statusCode);
      return new Writable({ write: (_, __, done) => done() });
    });
    const pipeline = undici.pipeline(url, { dispatcher, method: 'POST' }, ({ statusCode, body }) => {
      statuses.push(statusCode);
      return body;
    });
    pipeline.end('text');
    expect(await text(pipeline)).toContain('"text":"text"');
    expect(statuses).toEqual([200, 200]);
  });

  test('composed twice, it adds one token', async () => {
    const service = await startService();
    const ours = serviceAuthInterceptor(createAuth(service));
    const dispatcher = createAgent(undici, ours, ours);
    const { statusCode, body } = await request(`${service.baseUrl}/api/v1/`, { dispatcher });
    await body.dump();
    expect(statusCode).toBe(200);
  });

  test('a Pool serves requests that name their origin', async () => {
    const service = await startService();
    const pool = new undici.Pool(service.baseUrl);
    onTestFinished(() => pool.destroy());
    const dispatcher = pool.compose(serviceAuthInterceptor(createAuth(service)));
    const named = await dispatcher.request({ origin: service.baseUrl, path: '/api/v1/', method: 'GET' });
    await named.body.dump();
    expect(named.statusCode).toBe(200);
  });
});

describe('an error that undici makes of a 401', () => {
  test('has the body that the API sent, with throwOnError of undici 6', async () => {
    const service = await startService();
    const oldest = copies['undici 6.18'] as Undici;
    const dispatcher = createAgent(oldest, serviceAuthInterceptor(createAuth(service)));
    service.api.always({ status: 401 });
    const options = { dispatcher, throwOnError: true } as object;
    await expect(oldest.request(`${service.baseUrl}/api/v1/`, options)).rejects.toMatchObject({
      code: 'UND_ERR_RESPONSE_STATUS_CODE',
      statusCode: 401,
      body: { error: 'invalid_token' },
    });
  });

  test.each(['undici 7', 'undici 8'])('has the body that the API sent, with responseError() of %s', async (name) => {
    const service = await startService();
    const undici = copies[name] as Undici;
    const ours = serviceAuthInterceptor(createAuth(service));
    const dispatcher = createAgent(undici, ours, undici.interceptors.responseError());
    service.api.always({ status: 401 });
    await expect(undici.request(`${service.baseUrl}/api/v1/`, { dispatcher })).rejects.toMatchObject({
      code: 'UND_ERR_RESPONSE',
      statusCode: 401,
      body: { error: 'invalid_token' },
    });
  });
});

test('returns and throws what dispatch does, once the token is there', async () => {
  const service = await startService();
  const auth = createAuth(service);
  const dispatch = vi.fn().mockReturnValue(false);
  const request = () =>
    serviceAuthInterceptor(auth)(dispatch)({ origin: service.baseUrl, path: '/api/v1/', method: 'GET' }, {});
  expect(request()).toBe(true);
  await expect.poll(request).toBe(false);
  dispatch.mockImplementation(() => {
    throw new TypeError('invalid handler');
  });
  expect(request).toThrow('invalid handler');
});

test.each([[['X: y']], [[['x-name']]], [[['x-name', '1', '2']]]])(
  'leaves headers that are no pairs to undici: %j',
  async (values: readonly unknown[]) => {
    const service = await startService();
    const dispatch = vi.fn();
    const headers = new Set(values).values() as never;
    const options = { origin: service.baseUrl, path: '/api/v1/', method: 'GET', headers } as const;
    serviceAuthInterceptor(createAuth(service))(dispatch)(options, {});
    expect(Array.from(dispatch.mock.calls[0]?.[0].headers)).toEqual(values);
  },
);

test('sends the headers of an object while the prototype of all objects is polluted with an iterator', async () => {
  const service = await startService();
  const dispatch = vi.fn().mockReturnValue(true);
  const covered = { origin: service.baseUrl, path: '/api/v1/', method: 'GET' } as const;
  onTestFinished(() => void Reflect.deleteProperty(Object.prototype, Symbol.iterator));
  Object.defineProperty(Object.prototype, Symbol.iterator, { value: function* () {}, configurable: true });
  serviceAuthInterceptor(createAuth(service))(dispatch)({ ...covered, headers: { hello: 'world' } }, {});
  Reflect.deleteProperty(Object.prototype, Symbol.iterator);
  await expect.poll(() => dispatch.mock.calls[0]?.[0].headers).toMatchObject({ hello: 'world' });
});

test('refuses a client without baseUrl at once', async () => {
  const service = await startService();
  expect(() => serviceAuthInterceptor(createAuth(service, { baseUrl: undefined }))).toThrow(
    new TypeError(
      '[service-auth/undici] This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.',
    ),
  );
});

test.each(Object.entries(copies))(
  'judges each origin anew, whatever was requested before, with %s',
  async (_, undici) => {
    const service = await startService();
    const foreign = await startForeign();
    const auth = createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` });
    const everywhere = createAuth(service);
    for (const client of [auth, everywhere]) {
      const dispatcher = createAgent(undici, serviceAuthInterceptor(client));
      for (const url of [
        `${service.baseUrl}/api/v1/items`,
        `${foreign.url}/api/v1/items`,
        `${service.baseUrl}/api/v1/others`,
      ]) {
        await (await undici.request(url, { dispatcher })).body.dump();
        await (await undici.request(url, { dispatcher })).body.dump();
      }
    }
    expect(service.findSecrets(foreign.received)).toEqual([]);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
      ...Array(2).fill('/api/v1/items valid'),
      ...Array(2).fill('/api/v1/others none'),
      ...Array(2).fill('/api/v1/items valid'),
      ...Array(2).fill('/api/v1/others valid'),
    ]);
  },
);

test.each(Object.entries(copies))(
  'an informational answer has the headers that the API sent, with %s',
  async (_, undici) => {
    const service = await startService();
    const answers = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    const api = createSocketServer((socket) => socket.once('data', () => socket.end(answers)));
    onTestFinished(() => void api.close());
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
    const dispatcher = createAgent(undici, serviceAuthInterceptor(createAuth(service, { baseUrl: url })));
    const onInfo = vi.fn();
    await (await undici.request(url, { dispatcher, onInfo })).body.dump();
    expect(onInfo.mock.calls).toEqual([[{ statusCode: 103, headers: { link: '</a.css>' } }]]);
  },
);

describe.each(Object.entries(copies))('an informational answer before a 401, with %s', (_, undici) => {
  test.each(['fetch', 'request'] as const)('does not pause the connection of %s, which may end', async (name) => {
    const service = await startService();
    const answers =
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
    const api = createSocketServer((socket) => socket.once('data', () => socket.end(answers)));
    onTestFinished(() => void api.close());
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
    const auth = createAuth(service, { baseUrl: url });
    await auth.getToken();
    const dispatcher = createAgent(undici, serviceAuthInterceptor(auth));
    const paused = service.tokenEndpoint.pauseNext();
    const uncaught = vi.fn();
    process.on('uncaughtExceptionMonitor', uncaught);
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', uncaught));
    const response =
      name === 'fetch'
        ? undici.fetch(url, { dispatcher }).then(({ status }) => status)
        : undici.request(url, { dispatcher }).then(({ statusCode }) => statusCode);
    await paused.arrived;
    // The end of the connection reaches the client before the answers to these requests.
    for (let count = 0; count < 20; count++) await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
    paused.resume();
    expect(await response).toBe(401);
    expect(uncaught).not.toHaveBeenCalled();
    expect(service.counts.tokenRequests).toBe(2);
  });
});

describe.each(Object.entries(copies))(
  'an agent that ends while a 401 waits for another token, with %s',
  (_, undici) => {
    test.each(['close', 'destroy'] as const)('the caller gets the 401 after %s()', async (end) => {
      const service = await startService();
      const auth = createAuth(service);
      const agent = new undici.Agent();
      const dispatcher = agent.compose(serviceAuthInterceptor(auth));
      const request = () => undici.request(`${service.baseUrl}/api/v1/`, { dispatcher, method: 'POST', body: 'order' });
      await (await request()).body.dump();
      service.revoke('all');
      service.api.next({ status: 401, body: 'who are you?' });
      const paused = service.tokenEndpoint.pauseNext();
      const response = request();
      await paused.arrived;
      await agent[end]();
      paused.resume();
      const { statusCode, body } = await response;
      expect([statusCode, await body.text()]).toEqual([401, 'who are you?']);
      expect(service.counts.apiRequests).toBe(2);
      expect(auth.events.map(({ type }) => type)).toEqual(['token_issued', 'token_rejected', 'token_issued']);
    });

    test('a request that waits for its first token fails, because nothing was sent', async () => {
      const service = await startService();
      const agent = new undici.Agent();
      const dispatcher = agent.compose(serviceAuthInterceptor(createAuth(service)));
      const paused = service.tokenEndpoint.pauseNext();
      const response = undici.request(`${service.baseUrl}/api/v1/`, { dispatcher });
      const failure = expect(response).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
      await paused.arrived;
      await agent.close();
      paused.resume();
      await failure;
      expect(service.counts.apiRequests).toBe(0);
    });
  },
);

test.each(Object.entries(copies))(
  'a stream that fails while its request waits for a token rejects the call, with %s',
  async (_, undici) => {
    const service = await startService();
    const agent = createAgent(undici, serviceAuthInterceptor(createAuth(service)));
    const paused = service.tokenEndpoint.pauseNext();
    const body = new Readable({ read() {} });
    const { origin } = new URL(service.baseUrl);
    const response = agent.request({ origin, path: '/api/v1/', method: 'POST', body }).then(
      () => 'answered',
      () => 'rejected',
    );
    await paused.arrived;
    body.destroy(new Error('gone'));
    await once(body, 'close').catch(() => {});
    paused.resume();
    expect(await response).toBe('rejected');
    expect(service.counts.issued).toBe(1);
  },
);

test('one agent sends each API the token of its own source of one client', async () => {
  const { service, auth, billing, urls, sent } = await startTwoApis();
  const undici = Object.values(copies)[0] as Undici;
  const dispatcher = createAgent(undici, serviceAuthInterceptor(auth), serviceAuthInterceptor(billing));
  for (const url of [urls.orders, urls.billing]) await (await undici.request(url, { dispatcher })).body.dump();
  expect(sent()).toEqual(['orders: orders', 'billing: billing']);
  expect(service.counts.issued).toBe(2);
});
