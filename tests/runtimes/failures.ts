import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls, { type SecureVersion } from 'node:tls';
import { certificateFiles, selfSigned, trusted } from '@service-auth/test-tools/certificates';

/** A token endpoint, or the way to it, that fails in one way. */
interface Failure {
  readonly name: string;
  /** True if a whole token request arrives at the endpoint; undefined: it may. */
  readonly arrives: boolean | undefined;
  readonly url: string;
  /** The connection was used before: the program asks this endpoint something else first. */
  readonly reused?: boolean;
  /** It happens at the forward proxy. */
  readonly proxied?: boolean;
  /** Only clients that throw answers of 400 and more meet it. */
  readonly throws?: true;
  /** The number of complete token requests that have arrived. Each of them issues a token. */
  arrived(): number;
}

/** The failures and the forward proxy that refuses. */
export interface Failures {
  readonly all: readonly Failure[];
  /** Address of a forward proxy that answers every CONNECT with 407. */
  readonly proxy: string;
  close(): void;
}

type React = (socket: Socket) => void;

const half = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"access';
const plainText: React = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
const alert = (description: number): React => {
  return (socket) => socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, description])));
};

/** Starts an endpoint for every failure. */
export async function startFailures(): Promise<Failures> {
  const servers: net.Server[] = [];
  const sockets = new Set<Socket>();
  const all: Failure[] = [];

  async function listening(server: net.Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  const add = (failure: Failure) => all.push(failure);
  const never = { arrives: false, arrived: () => 0 };
  const unsent = async (name: string, server: net.Server) => {
    add({ ...never, name, url: `https://localhost:${await listening(server)}` });
  };

  /** Reads token requests, and reacts when a whole one is there. Other requests are answered. */
  function endpoint(react: React) {
    let arrived = 0;
    const onConnection = (socket: Socket) => {
      let received = '';
      socket
        .on('error', () => {})
        .on('data', (data) => {
          received += data;
          for (;;) {
            const end = received.indexOf('\r\n\r\n');
            if (end < 0) return;
            const head = received.slice(0, end);
            const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
            if (received.length < end + 4 + length) return;
            received = received.slice(end + 4 + length);
            if (head.startsWith('POST /oauth/token ')) {
              arrived += 1;
              react(socket);
            } else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          }
        });
    };
    return { onConnection, arrived: () => arrived };
  }

  async function sent(name: string, react: React, fields: Partial<Failure> = {}) {
    const { onConnection, arrived } = endpoint(react);
    const url = `http://127.0.0.1:${await listening(net.createServer(onConnection))}`;
    add({ name, arrives: true, url, arrived, ...fields });
  }

  /** A TLS endpoint behind a relay that can write into the connection what TLS does not expect. */
  async function brokenTls(version: SecureVersion) {
    const relayed = new Set<Socket>();
    const { onConnection, arrived } = endpoint(() => {
      for (const socket of relayed) plainText(socket);
    });
    const inner = tls.createServer({ ...trusted, minVersion: version, maxVersion: version }, onConnection);
    const port = await listening(inner);
    const relay = net.createServer((socket) => {
      const upstream = net.connect(port, '127.0.0.1').on('error', () => {});
      socket.pipe(upstream, { end: false });
      upstream.on('data', (data) => socket.writable && socket.write(data));
      socket.on('close', () => upstream.destroy());
      relayed.add(socket);
    });
    const url = `https://localhost:${await listening(relay)}`;
    add({ name: `an established connection of ${version} breaks`, arrives: true, url, arrived });
  }

  async function clientCertificate(version: SecureVersion, arrives: false | undefined) {
    const { onConnection, arrived } = endpoint((socket) => socket.end());
    const mutual = { requestCert: true, rejectUnauthorized: true, ca: readFileSync(certificateFiles.authority) };
    const server = tls.createServer({ ...trusted, ...mutual, minVersion: version, maxVersion: version }, onConnection);
    const url = `https://localhost:${await listening(server)}`;
    add({ name: `the server wants a certificate of the client, ${version}`, arrives, url, arrived });
  }

  async function refusedStream() {
    let arrived = 0;
    const server = createSecureServer({ ...trusted, allowHTTP1: true }, (request) => {
      request
        .on('error', () => {})
        .resume()
        .on('end', () => {
          arrived += 1;
          const { stream } = request;
          if (request.httpVersionMajor === 2) stream.close(7);
          else request.socket.destroy();
        });
    });
    const url = `https://localhost:${await listening(server as unknown as net.Server)}`;
    add({
      name: 'the stream of HTTP/2 is refused, or the connection ends',
      arrives: true,
      url,
      arrived: () => arrived,
    });
  }

  const closed = net.createServer();
  const closedPort = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  add({ ...never, name: 'the port refuses the connection', url: `http://127.0.0.1:${closedPort}` });
  add({ ...never, name: 'there is no such name', url: 'https://does-not-exist.invalid' });
  add({ ...never, name: 'a port that fetch blocks', url: 'http://127.0.0.1:6000' });
  await unsent('the port speaks HTTP without TLS', createHttpServer());
  await unsent(
    'the peer ends the connection at once',
    net.createServer((socket) => socket.end()),
  );
  await unsent(
    'the peer resets the connection during the handshake',
    net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  );
  await unsent('alert during the handshake: unknown name', net.createServer(alert(112)));
  await unsent('alert during the handshake: handshake failure', net.createServer(alert(40)));
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await unsent('the server has TLS 1.1 only', tls.createServer({ ...trusted, ...old }));
  await unsent('the certificate is self-signed', tls.createServer(selfSigned));
  await clientCertificate('TLSv1.2', false);
  // The client has finished its handshake before the server judges the certificate, and may have sent its request.
  await clientCertificate('TLSv1.3', undefined);
  const refusing = net.createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'));
  });
  const proxy = `http://127.0.0.1:${await listening(refusing)}`;
  add({ ...never, name: 'the forward proxy refuses CONNECT', url: 'https://proxied.example', proxied: true });

  await sent('the connection ends without an answer', (socket) => socket.end());
  await sent('the connection is reset', (socket) => socket.resetAndDestroy());
  await sent('the answer ends early', (socket) => socket.end(half));
  await sent('a used connection ends without an answer', (socket) => socket.end(), { reused: true });
  await sent('a used connection is reset', (socket) => socket.resetAndDestroy(), { reused: true });
  await sent('408, and the connection ends', (socket) => {
    socket.end('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  await brokenTls('TLSv1.2');
  await brokenTls('TLSv1.3');
  await refusedStream();
  const limited = await listening(
    createHttpServer((_, response) => response.writeHead(429, { 'retry-after': '60' }).end()),
  );
  add({
    name: 'the client throws: 429',
    arrives: undefined,
    url: `http://127.0.0.1:${limited}`,
    throws: true,
    arrived: () => 0,
  });
  await sent(
    'the client throws: 503',
    (socket) => socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
    { throws: true },
  );

  return {
    all,
    proxy,
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
