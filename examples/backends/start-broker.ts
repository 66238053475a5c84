// As much of a Kafka broker as a client needs to log in by SASL/OAUTHBEARER (KIP-255, RFC 7628), over TLS.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { certificate } from './certificate.ts';
import type { Shop } from './start-shop.ts';

const saslHandshake = 17;
const apiVersions = 18;
const saslAuthenticate = 36;
const unsupportedVersion = 35;
const authenticationFailed = 58;

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 65_535)]);
const string = (text: string): Buffer => Buffer.concat([int16(text.length), Buffer.from(text)]);

/** Starts it on loopback. */
export async function startBroker({
  accepts,
}: Shop): Promise<AsyncDisposable & { readonly env: Record<string, string> }> {
  const sockets = new Set<Socket>();

  async function answer(key: number, version: number, payload: Buffer): Promise<Buffer> {
    if (key === apiVersions) {
      if (version > 0) return Buffer.concat([int16(unsupportedVersion), int32(0)]);
      const keys = [saslHandshake, apiVersions, saslAuthenticate];
      return Buffer.concat([int16(0), int32(keys.length), ...keys.flatMap((key) => [int16(key), int16(0), int16(0)])]);
    }
    if (key === saslHandshake) return Buffer.concat([int16(0), int32(1), string('OAUTHBEARER')]);
    if (key !== saslAuthenticate) throw new Error(`This broker does not know the request ${key}.`);
    const authorization = /auth=(Bearer [\w.-]+)/.exec(payload.toString())?.[1];
    if (await accepts(authorization)) return Buffer.concat([int16(0), string(''), int32(0)]);
    return Buffer.concat([int16(authenticationFailed), string('invalid_token'), int32(0)]);
  }

  const server = tls.createServer(certificate, async (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
        const request = received.subarray(4, 4 + received.readInt32BE(0));
        received = received.subarray(4 + request.length);
        const payload = request.subarray(10 + request.readInt16BE(8));
        const body = await answer(request.readInt16BE(0), request.readInt16BE(2), payload);
        socket.write(Buffer.concat([int32(4 + body.length), request.subarray(4, 8), body]));
      }
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: { KAFKA_BROKERS: `localhost:${(server.address() as AddressInfo).port}` },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
