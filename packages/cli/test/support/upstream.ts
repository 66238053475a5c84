import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An API of one test that does what the test says. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer({ requestTimeout: 0 }, listener);
  return open(server);
}

/** An API of one test that writes bytes of the test, whatever the request. */
export async function startRawUpstream(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return open(server as unknown as Server);
}

async function open(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
