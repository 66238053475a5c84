import { once } from 'node:events';
import { createServer, globalAgent } from 'node:http';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuth, startService } from '@service-auth/test-support/service';
import { trusted } from '@service-auth/test-tools/certificates';
import type { AxiosProxyConfig, AxiosRequestConfig } from 'axios';
import newestAxios from 'axios';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { copies } from './copies.ts';
import { createInstance, rejectionOf } from './instance.ts';

const variables = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

beforeEach(() => {
  for (const name of variables.flatMap((each) => [each, each.toUpperCase()])) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

/** A proxy that remembers the first lines and the headers of what it receives, and makes no tunnel. */
async function startProxy() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.end('{}');
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url} ${JSON.stringify(request.headers)}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    globalAgent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

const unreachable = 'https://127.0.0.1:1';

/** A client whose API is at `baseUrl`, and whose tokens come from the service on loopback. */
async function connect(axios: typeof newestAxios, baseUrl: string, defaults: AxiosRequestConfig) {
  const service = await startService();
  const auth = createAuth(service, { baseUrl });
  return {
    service,
    instance: createInstance(axios, { ...service, baseUrl }, auth, defaults),
  };
}

/** An API over HTTP/2 and TLS, which remembers what it receives. */
async function startHttp2() {
  const seen: string[] = [];
  const server = createSecureServer(trusted);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', async (stream, headers) => {
    seen.push(`${headers[':method']} ${await text(stream)} ${headers.authorization ? 'with' : 'without'} a token`);
    stream.respond({ ':status': 200 });
    stream.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

type Configure = (proxy: { url: string; port: number }) => AxiosRequestConfig;
const inTheEnvironment =
  (name: string): Configure =>
  ({ url }) => {
    vi.stubEnv(name, url);
    return {};
  };
const configurations: Record<string, Configure> = {
  'HTTPS_PROXY, with an agent of the application': (proxy) => {
    const httpsAgent = new HttpsAgent();
    onTestFinished(() => httpsAgent.destroy());
    return { ...inTheEnvironment('HTTPS_PROXY')(proxy), httpsAgent };
  },
  HTTPS_PROXY: inTheEnvironment('HTTPS_PROXY'),
  https_proxy: inTheEnvironment('https_proxy'),
  ALL_PROXY: inTheEnvironment('ALL_PROXY'),
  all_proxy: inTheEnvironment('all_proxy'),
  'the configuration': ({ port }) => ({ proxy: { host: '127.0.0.1', port } }),
  'the configuration, with its protocol': ({ port }) => ({ proxy: { protocol: 'http', host: '127.0.0.1', port } }),
};

test('a request over HTTP/2 is sent once', async () => {
  const { url, seen } = await startHttp2();
  const http2 = { httpVersion: 2, http2Options: { rejectUnauthorized: false } } as AxiosRequestConfig;
  const { instance } = await connect(newestAxios, url, http2);
  for (const order of ['one', 'two']) expect((await instance.post('/orders', order)).status).toBe(200);
  expect(seen).toEqual(['POST one with a token', 'POST two with a token']);
});

describe.each(Object.entries(copies))('a proxy for https with %s', (_, axios) => {
  test.each(Object.entries(configurations))('of %s does not see the token', async (_, configure) => {
    const proxy = await startProxy();
    const { instance } = await connect(axios, 'https://api.example.com', configure(proxy));
    await rejectionOf(instance.get('/'));
    expect(proxy.seen.map((line) => line.split(' ', 2).join(' '))).toEqual(['CONNECT api.example.com:443']);
    expect(proxy.seen.join()).not.toMatch(/authorization|bearer/i);
  });

  test('with an Authorization of its own, a request is sent as it would be without us', async () => {
    const proxy = await startProxy();
    const { instance } = await connect(axios, 'https://api.example.com', inTheEnvironment('HTTPS_PROXY')(proxy));
    const outcome = await instance.get('/', { headers: { authorization: 'Bearer own' } }).catch((error) => error);
    expect(outcome).not.toBeInstanceOf(TypeError);
    expect(proxy.seen).toHaveLength(1);
  });

  test.each<[string, Configure]>([
    [
      'NO_PROXY names the API',
      (proxy) => ({
        ...inTheEnvironment('NO_PROXY')({ ...proxy, url: '127.0.0.1' }),
        ...inTheEnvironment('HTTPS_PROXY')(proxy),
      }),
    ],
    ['the configuration says false', (proxy) => ({ ...inTheEnvironment('HTTPS_PROXY')(proxy), proxy: false })],
    ['there is one for http only', inTheEnvironment('HTTP_PROXY')],
    ['there is none', () => ({})],
  ])('is not in the way if %s', async (_, configure) => {
    const proxy = await startProxy();
    const { instance } = await connect(axios, unreachable, configure(proxy));
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ code: 'ECONNREFUSED' });
    expect(proxy.seen).toEqual([]);
  });

  test('is judged anew at each request', async () => {
    const proxy = await startProxy();
    const { instance } = await connect(axios, unreachable, {});
    expect(await rejectionOf(instance.get('/'))).toMatchObject({ code: 'ECONNREFUSED' });
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    await rejectionOf(instance.get('/'));
    expect(proxy.seen.join()).not.toMatch(/authorization|bearer/i);
    expect(proxy.seen).toHaveLength(1);
  });

  test('is not in the way of a mock, which is not even asked', async () => {
    const proxy = await startProxy();
    const asked: unknown[] = [];
    const adapter = async (config: unknown) => {
      asked.push(config);
      return { status: 200, data: 'mocked', headers: {}, statusText: '', config } as never;
    };
    const { instance } = await connect(axios, 'https://api.example.com', {
      ...inTheEnvironment('HTTPS_PROXY')(proxy),
      adapter,
    });
    expect((await instance.get('/')).data).toBe('mocked');
    expect(asked).toHaveLength(1);
  });

  test('the http adapter as a function is no mock', async () => {
    const proxy = await startProxy();
    const adapter = axios.getAdapter('http');
    const defaults = { ...inTheEnvironment('HTTPS_PROXY')(proxy), adapter };
    const { instance } = await connect(axios, 'https://api.example.com', defaults);
    await rejectionOf(instance.get('/'));
    expect(proxy.seen.join()).not.toMatch(/authorization|bearer/i);
  });
});

describe.each(Object.entries(copies))('plain http to loopback with %s', (_, axios) => {
  test('goes round the proxies of the environment', async () => {
    const proxy = await startProxy();
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
    const service = await startService();
    const instance = createInstance(axios, service, createAuth(service));
    expect((await instance.get('/')).status).toBe(200);
    expect(proxy.seen).toEqual([]);
  });

  test('goes through a proxy that the configuration names', async () => {
    const proxy = await startProxy();
    const service = await startService();
    const config: AxiosProxyConfig = { protocol: 'http', host: '127.0.0.1', port: proxy.port };
    const instance = createInstance(axios, service, createAuth(service), { proxy: config });
    await instance.get('/');
    expect(proxy.seen).toHaveLength(1);
    expect(service.counts.apiRequests).toBe(0);
  });
});

test("axios's fetch adapter uses no proxy of the environment by itself", async () => {
  const proxy = await startProxy();
  const defaults = { ...inTheEnvironment('HTTPS_PROXY')(proxy), adapter: 'fetch' } as const;
  const { instance } = await connect(newestAxios, unreachable, defaults);
  expect(await rejectionOf(instance.get('/'))).toMatchObject({ code: 'ERR_NETWORK' });
  expect(proxy.seen).toEqual([]);
});
