import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from '@service-auth/test-tools/servers/listen';

/** An API that knows the keys of its OAuth server, and checks every token by them. */
export interface Api {
  readonly baseUrl: string;
  /** The statuses it answered with. */
  readonly answers: readonly number[];
  /** Answers the next request with 401. */
  rejectNext(): void;
  close(): Promise<void>;
}

export async function startApi(jwksUri: string, audience: string): Promise<Api> {
  const { keys } = (await (await fetch(jwksUri)).json()) as { keys: JsonWebKey[] };
  const publicKeys = keys.map((key) => createPublicKey({ key, format: 'jwk' }));
  let rejecting = false;
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const [scheme, token = ''] = request.headers.authorization?.split(' ') ?? [];
    const accepted = scheme === 'Bearer' && !rejecting && isValid(token, publicKeys, audience);
    rejecting = false;
    answers.push(accepted ? 200 : 401);
    response.writeHead(accepted ? 200 : 401).end();
  });
  const { url, close } = await listen(server);
  return {
    baseUrl: url,
    answers,
    rejectNext() {
      rejecting = true;
    },
    close,
  };
}

function isValid(token: string, keys: readonly KeyObject[], audience: string): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const signed = Buffer.from(`${header}.${payload}`);
  if (!keys.some((key) => verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))) return false;
  const { aud, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { aud: unknown; exp: number };
  return [aud].flat().includes(audience) && exp * 1_000 > Date.now();
}
