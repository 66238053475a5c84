import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const program = fileURLToPath(new URL('../src/proxied-requests.ts', import.meta.url));
const token = JSON.stringify({ access_token: 'abc', token_type: 'Bearer', expires_in: 86_400 });

/** An API with its token endpoint, or a proxy that reads what goes through it: names of the clients whose token it saw, and `token` for the secret. */
async function startServer() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const name = request.url?.split('/').at(-1) ?? '';
    if (request.method === 'POST') seen.push('token');
    else if (request.headers.authorization === 'Bearer abc') seen.push(name);
    request.resume();
    response.setHeader('content-type', 'application/json').end(token);
  });
  server.on('connect', (_, socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    server.emit('connection', socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** The requests that the API and the proxy saw, with a proxy in the environment that Node uses. */
async function sightings(environment: Readonly<Record<string, string>>) {
  const [api, proxy] = [await startServer(), await startServer()];
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxy.origin,
    http_proxy: proxy.origin,
    ...environment,
  };
  await promisify(execFile)(process.execPath, ['--conditions=@service-auth/source', program, api.origin], { env });
  return { api: api.seen, proxy: proxy.seen };
}

test('with NODE_USE_ENV_PROXY a proxy reads requests to an API on loopback by http, except those of axios and of an Agent of undici', async () => {
  expect(await sightings({ NO_PROXY: '', no_proxy: '' })).toEqual({
    api: ['token', 'axios', 'undici-agent'],
    proxy: ['fetch', 'axios-fetch', 'got', 'undici-global'],
  });
});

test('with NO_PROXY for loopback no proxy reads any of them', async () => {
  const direct = 'localhost,127.0.0.1,[::1]';
  expect(await sightings({ NO_PROXY: direct, no_proxy: direct })).toEqual({
    api: ['token', 'fetch', 'axios', 'axios-fetch', 'got', 'undici-agent', 'undici-global'],
    proxy: [],
  });
});
