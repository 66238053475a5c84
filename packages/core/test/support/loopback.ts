import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens on loopback until the test has finished. */
export interface Loopback {
  readonly url: string;
  /** The bodies of all requests that arrived complete. */
  readonly bodies: readonly string[];
}

/** A server of HTTP that does with each answer what the test says. */
export async function startServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<Loopback> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    bodies.push(body);
    answer(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`, bodies };
}

/** A server that sees bytes: `converse` gets each connection and, once it is complete, the request as it came over the wire. */
export async function startSocketServer(
  converse: (socket: Socket, request: string) => void,
): Promise<Loopback & { close(): void }> {
  const bodies: string[] = [];
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const bodyAt = received.indexOf('\r\n\r\n') + 4;
      const head = received.subarray(0, bodyAt).toString();
      if (bodyAt < 4 || received.length < bodyAt + Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      const request = received.toString();
      bodies.push(request.slice(head.length));
      received = Buffer.alloc(0);
      converse(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`;
  return { url, bodies, close: () => server.close() };
}

/** An address on loopback without a listener. */
export async function deadAddress(): Promise<string> {
  const server = createSocketServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}/oauth/token`;
}
