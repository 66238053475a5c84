import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createAuth, startService } from '@service-auth/test-support/service';
import type { AxiosRequestConfig, AxiosStatic } from 'axios';
import axiosWithoutTunnels from 'axios-without-tunnels';
import axiosZero from 'axios-zero';
import { expect, onTestFinished, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { refuseVersion } from '../src/old-axios.ts';
import { copies } from './copies.ts';
import { rejectionOf } from './instance.ts';

test.each(['1.16.9', '1.6.8', '1.0.0', '0.30.2'])(
  'axios %s is refused, because it shows the token to a proxy',
  (version) => {
    expect(() => refuseVersion(version)).toThrow(
      new TypeError(`[service-auth/axios] axios ${version} shows the token to a proxy. Update it to 1.17 or newer.`),
    );
  },
);

test.each(['1.17.0', '1.21.1', '2.0.0', undefined])('axios %s is taken', (version) => {
  expect(() => refuseVersion(version as string)).not.toThrow();
});

/** Sends a request to https with an instance of `axios`, and returns the error and what a proxy received. */
async function sendThroughProxy(axios: AxiosStatic, defaults: AxiosRequestConfig = {}) {
  let seen = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      seen += data;
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const baseURL = 'https://api.example.com';
  const instance = axios.create({ baseURL, proxy: { protocol: 'http', host: '127.0.0.1', port }, ...defaults });
  attachServiceAuth(instance, createAuth(await startService(), { baseUrl: baseURL }));
  return { error: await rejectionOf(instance.get('/')), seen };
}

test.each([axiosWithoutTunnels, axiosZero])(
  'a request of another copy of axios that makes no tunnels is refused, and nothing is sent',
  async (axios) => {
    const { error, seen } = await sendThroughProxy(axios as unknown as AxiosStatic);
    expect(error).toEqual(
      new TypeError(
        '[service-auth/axios] The axios of this instance shows the token to a proxy. Update it to 1.17 or newer.',
      ),
    );
    expect(seen).toBe('');
  },
);

test.each(Object.entries(copies))('a request of %s is sent, whatever its settings are', async (_, axios) => {
  for (const transitional of [undefined, { clarifyTimeoutError: true }]) {
    const { seen } = await sendThroughProxy(axios, transitional && { transitional });
    expect(seen).toMatch(/^CONNECT api\.example\.com:443 /);
  }
});

test('a copy that makes no tunnels sends requests that use no proxy', async () => {
  const service = await startService();
  const instance = axiosWithoutTunnels.create({ baseURL: service.baseUrl });
  attachServiceAuth(instance as never, createAuth(service));
  expect((await instance.get('/api/v1/')).status).toBe(200);
});
