import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceOrder } from '../harness/service.ts';

const answer = JSON.stringify({ orders: [] });
const json = { 'content-type': 'application/json' };
let issued = 0;

/** A token for every POST, whatever its form, for the libraries differ in that; and the API, to which every token is good. */
export default async function service(order: ServiceOrder): Promise<string | number> {
  if (order === 'issued') {
    const count = issued;
    issued = 0;
    return count;
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, json).end(answer);
      return;
    }
    request.resume().on('end', () => {
      issued += 1;
      const body = JSON.stringify({ access_token: createJwt(), token_type: 'Bearer', expires_in: 86_400 });
      setTimeout(() => response.writeHead(200, json).end(body), order.delayMs);
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Creates a token of the usual length. Nothing accepts it, because its signature is random. */
function createJwt(): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { iss: 'https://auth.example.com/', sub: 'client', aud: 'api', iat, exp: iat + 86_400 };
  const jti = `${issued}`.padStart(180, '0');
  return `${part({ alg: 'RS256', typ: 'JWT', kid: 'none' })}.${part({ ...claims, jti })}.${'s'.repeat(342)}`;
}
