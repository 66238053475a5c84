import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServiceAuth, memoryStore } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import * as undici from 'undici';
import * as undici7 from 'undici-7';
import * as oldest from 'undici-oldest';
import { expect, onTestFinished, test } from 'vitest';
import { serviceAuthInterceptor } from '../src/index.ts';

const issued = '{"access_token":"issued","token_type":"Bearer","expires_in":3600}';

async function startServer(answer: string) {
  let received = '';
  const server = createServer((request, response) => {
    request.on('data', (chunk) => {
      received += chunk;
    });
    request.on('end', () => response.setHeader('content-type', 'application/json').end(answer));
  });
  server.on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    server.emit('connection', socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}

const dispatchers: Readonly<Record<string, (proxy: string) => void>> = {
  'EnvHttpProxyAgent of undici 6': (httpProxy) =>
    oldest.setGlobalDispatcher(new oldest.EnvHttpProxyAgent({ httpProxy })),
  'EnvHttpProxyAgent of undici 7': (httpProxy) =>
    undici7.setGlobalDispatcher(new undici7.EnvHttpProxyAgent({ httpProxy })),
  'EnvHttpProxyAgent of undici 8': (httpProxy) =>
    undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent({ httpProxy })),
  'ProxyAgent of undici 8': (proxy) => undici.setGlobalDispatcher(new undici.ProxyAgent(proxy)),
  'ProxyAgent of undici 8 with an interceptor': (proxy) =>
    undici.setGlobalDispatcher(new undici.ProxyAgent(proxy).compose(undici.interceptors.redirect())),
};

test.for(Object.entries(dispatchers))(
  'a token request to loopback does not go through the global %s',
  async ([, setGlobalDispatcher]) => {
    const [endpoint, proxy] = await Promise.all([startServer(issued), startServer('proxied')]);
    const options = { authUrl: endpoint.url, audience: 'a', clientId: 'c', clientSecret: 's', store: memoryStore() };
    const before = undici.getGlobalDispatcher();
    setGlobalDispatcher(proxy.url);
    try {
      const plain = await fetch(`${endpoint.url}/plain`, { method: 'POST', body: 'plain' });
      expect(await plain.text()).toBe('proxied');
      expect((await createServiceAuth(options).getToken()).value).toBe('issued');
    } finally {
      undici.setGlobalDispatcher(before);
    }
    expect(endpoint.received()).toContain('client_credentials');
    expect(proxy.received()).toBe('plain');
  },
);

test('a token request that goes through the interceptor as the global dispatcher does not wait for itself', async () => {
  const service = await startService();
  const auth = createAuth(service, { timeoutMs: 5_000 });
  const before = undici.getGlobalDispatcher();
  const dispatcher = new undici.Agent().compose(serviceAuthInterceptor(auth));
  onTestFinished(() => dispatcher.destroy());
  undici.setGlobalDispatcher(dispatcher);
  try {
    expect((await fetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
  } finally {
    undici.setGlobalDispatcher(before);
  }
  expect(service.counts).toMatchObject({ tokenRequests: 1, issued: 1 });
});
