// The program outlives clients that misbehave, and no connection keeps it from ending.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { send, startServing } from '../support/serving.ts';
import { startUpstream } from '../support/upstream.ts';

const marked = { 'service-auth': 'true' };
const tunnel = 'CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n';

async function connected(url: string, allowHalfOpen = false): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

test('clients that ask for a tunnel and reset the connection do no harm', async () => {
  const { url, ask, running } = await startServing();
  for (let round = 0; round < 20; round += 1) {
    const socket = await connected(url);
    socket.write(tunnel, () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect(await ask('/liveness')).toMatchObject({ status: 200 });
  expect(running.printed.stderr).not.toContain('ECONNRESET');
});

test('a client that asks for a tunnel and keeps its side open loses the connection, so SIGTERM ends the program', async () => {
  const { url, running } = await startServing();
  const socket = await connected(url, true);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => (received += chunk));
  socket.write(tunnel);
  await once(socket, 'end');
  expect(received).toMatch(/^HTTP\/1.1 501 /);
  running.kill('SIGTERM');
  expect((await running.outcome).code).toBe(0);
});

test('a connection that is kept alive ends with the answer that was open at SIGTERM', async () => {
  let finish = () => {};
  const api = await startUpstream((_, response) => {
    response.write('part');
    finish = () => response.end('rest');
  });
  const { url, running } = await startServing({ env: { SERVICE_BASE_URL: api }, args: ['--grace', '10m'] });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const { hostname, port } = new URL(url);
  const outgoing = request({ hostname, port, path: '/x', headers: marked, agent }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(answer.headers.connection).toBe('keep-alive');
  running.kill('SIGTERM');
  await running.untilPrinted(' ends ');
  finish();
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('partrest');
  expect((await running.outcome).code).toBe(0);
});

test('HEAD is answered without a body', async () => {
  const api = await startUpstream((_, response) => response.writeHead(200, { 'content-length': '5' }).end());
  const { url } = await startServing({ env: { SERVICE_BASE_URL: api } });
  expect(await send(url, '/x', { method: 'HEAD', headers: marked })).toMatchObject({ status: 200, body: '' });
});

test('connections without a request do not hold up the end', async () => {
  const { url, running } = await startServing({ args: ['--grace', '10m'] });
  const silent = await connected(url);
  running.kill('SIGTERM');
  await once(silent, 'close');
  expect((await running.outcome).code).toBe(0);
});
