import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { HttpClientBody, HttpClientRequest } from '@service-auth/testing';
import fc from 'fast-check';
import { type Listening, listen } from '../../../support/tools/servers/listen.ts';

/** The answers of the servers to a request and to those that its redirects cause. */
interface Exchange {
  readonly redirects: readonly { readonly status: number; readonly to: 'path' | 'origin' | 'elsewhere' }[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** The connection ends in the middle of the body. */
  readonly isCut: boolean;
}

type BodyKind = 'none' | 'string' | 'json' | 'bytes' | 'blob' | 'urlSearchParams' | 'stream';

/** A request with the answers to it. */
export interface Case {
  readonly method: HttpClientRequest['method'];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  readonly body: BodyKind;
  readonly content: string;
  readonly exchange: Exchange;
}

// Without Proxy-Authorization, which node-fetch passes on to another origin after a redirect, and we do not.
const name = fc.constantFrom('x-one', 'X-Two', 'accept', 'cookie', 'if-none-match', 'content-type');
const headers = fc.dictionary(name, fc.stringMatching(/^[a-z0-9/=;,"]{1,20}$/), { maxKeys: 3, noNullPrototype: true });
const exchange: fc.Arbitrary<Exchange> = fc.record({
  redirects: fc.array(
    fc.record({
      status: fc.constantFrom(301, 302, 303, 307, 308),
      to: fc.constantFrom('path' as const, 'origin' as const, 'elsewhere' as const),
    }),
    { maxLength: 3 },
  ),
  // A 401 is what an adapter must notice.
  status: fc.constantFrom(200, 201, 204, 206, 304, 400, 402, 403, 404, 407, 409, 429, 500, 503),
  headers: fc.dictionary(
    fc.constantFrom('x-answer', 'retry-after', 'set-cookie', 'www-authenticate', 'cache-control'),
    fc.constantFrom('1', 'a=b', 'Bearer', 'no-store'),
    { noNullPrototype: true },
  ),
  bytes: fc.constantFrom(0, 1, 1_000, 70_000),
  isCut: fc.boolean(),
});

export const anyCase: fc.Arbitrary<Case> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT'),
  headers,
  query: fc.webQueryParameters(),
  body: fc.constantFrom('none', 'string', 'json', 'bytes', 'blob', 'urlSearchParams', 'stream'),
  content: fc.string({ minLength: 1 }),
  exchange,
});

/** Returns a new body for each time that the case is sent. */
export function bodyOf({ method, body, content }: Case): HttpClientBody | undefined {
  const bytes = new TextEncoder().encode(content);
  if (method === 'GET') return undefined;
  switch (body) {
    case 'none':
      return undefined;
    case 'string':
      return { kind: 'string', value: content };
    case 'json':
      return { kind: 'json', value: { content } };
    case 'bytes':
      return { kind: 'bytes', value: bytes };
    case 'blob':
      return { kind: 'blob', value: new Blob([bytes]) };
    case 'urlSearchParams':
      return { kind: 'urlSearchParams', value: new URLSearchParams({ content }) };
    case 'stream':
      return { kind: 'stream', value: new Blob([bytes]).stream() };
  }
}

/** A request as a server received it. The token is left out. */
export interface Received {
  readonly origin: 'the API' | 'another';
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** An API and a server of somebody else. Both answer as the case says. */
export class Servers implements AsyncDisposable {
  readonly #servers = new Map<Received['origin'], Listening>();
  #exchange: Exchange | undefined;
  #received: Received[] = [];

  static async start(): Promise<Servers> {
    const servers = new Servers();
    for (const origin of ['the API', 'another'] as const) {
      const server = createServer((request, response) => servers.#answer(origin, request, response));
      servers.#servers.set(origin, await listen(server));
    }
    return servers;
  }

  urlOf(origin: Received['origin']): string {
    return this.#servers.get(origin)?.url ?? '';
  }

  /** Answers as `exchange` says from now on. Returns what arrived since the last call. */
  next(exchange: Exchange | undefined): readonly Received[] {
    const received = this.#received;
    this.#received = [];
    this.#exchange = exchange;
    return received;
  }

  async #answer(origin: Received['origin'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = this.#exchange;
    const hash = createHash('sha256');
    try {
      for await (const chunk of request) hash.update(chunk as Uint8Array);
    } catch {
      // The client gave up.
    }
    const { authorization: _, ...headers } = request.headers;
    const { method = '', url = '' } = request;
    const received = {
      origin,
      method,
      url,
      headers: Object.entries(headers).map(String).sort(),
      body: hash.digest('hex'),
    };
    const hop = exchange?.redirects[this.#received.length];
    this.#received.push(received);
    if (!exchange || response.destroyed) return void response.destroy();
    if (hop) {
      const to = this.urlOf(hop.to === 'elsewhere' ? 'another' : hop.to === 'origin' ? 'the API' : origin);
      const path = `/api/v1/hop-${this.#received.length}`;
      response.writeHead(hop.status, { location: hop.to === 'path' ? path : `${to}${path}` }).end('moved');
      return;
    }
    const hasBody = exchange.status !== 204 && exchange.status !== 304;
    response.writeHead(exchange.status, {
      ...exchange.headers,
      ...(hasBody && { 'content-length': exchange.bytes }),
    });
    const isCut = exchange.isCut && hasBody && exchange.bytes > 1;
    if (isCut) response.write('x'.repeat(exchange.bytes / 2), () => response.destroy());
    else response.end(hasBody ? 'x'.repeat(exchange.bytes) : undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { close } of this.#servers.values()) await close();
  }
}
