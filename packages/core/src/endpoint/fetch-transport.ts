import { configError } from '../contract/config-problems.ts';
import { serviceAuthError } from '../contract/errors.ts';
import type { Transport } from '../contract/transport.ts';
import { isLoopback } from '../platform/address.ts';
import { leftAlone, originalFetch } from '../platform/nextjs.ts';
import {
  type BodyReader,
  type FetchedResponse,
  fetchInit,
  nodeFetch,
  type TokenFetch,
  usesNodeProxy,
} from '../platform/node-fetch.ts';
import { ownProperties } from '../platform/untrusted.ts';

/** Options of {@link fetchTransport}. */
export interface FetchTransportOptions {
  /**
   * Any fetch, such as that of undici with a proxy agent, node-fetch, or a mock. Default: the
   * global fetch at the time of each request. If it throws, and returns no promise, it must not
   * have sent the request: no token is counted.
   */
  fetch?: TokenFetch | undefined;
}

/** The maximum length of a token response, in decoded bytes. */
export const maxBodyLength = 65_536;

/**
 * Creates a transport that sends token requests by fetch. It follows no redirect, and rejects a 2xx
 * answer of more than 65,536 decoded bytes.
 * @throws `ERR_CONFIG` if `fetch` is no function
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  const { fetch: given } = ownProperties(options);
  if (given && typeof given !== 'function') throw configError([{ option: 'fetch', message: 'must be a function' }]);
  return async ({ url, method, headers, body, signal }) => {
    const connection = connectionTo(url);
    // Options against cookies and cached answers are missing, because edge runtimes reject them.
    const members = { method, headers: ownProperties(headers), body, signal, redirect: 'manual' } as const;
    let answer: Promise<FetchedResponse> | undefined;
    let response: FetchedResponse;
    try {
      const send = given ? originalFetch(given) : (connection.send ?? originalFetch(fetch));
      answer = send(url, fetchInit({ ...members, ...connection.init, ...leftAlone() }));
      response = await answer;
    } catch (error) {
      connection.close();
      if (answer) throw error;
      // A fetch that is missing, or that throws and returns no promise, has sent nothing. `syscall`
      // is the evidence of that.
      throw Object.assign(new Error('not sent'), { name: Object(error).name, syscall: 'connect' });
    }
    // Deno throws if a client is closed twice.
    const text = readBody(response).finally(() => connection.close());
    // Nobody waits for it if the answer is no object, or if a property of it throws.
    text.catch(() => {});
    // A browser hides the status of a redirect.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    // An error status alone says that no token was issued, so an error page that is too large
    // changes nothing.
    return { status, headers: response.headers, body: response.ok ? await text : text.catch(() => '') };
  };
}

/** The transport of clients without the option `transport`. */
export const defaultTransport: Transport = /* @__PURE__ */ fetchTransport();

async function readBody(response: FetchedResponse): Promise<string> {
  const reader = readerOf(response.body);
  if (!reader) return response.text();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > maxBodyLength) {
      // Do not wait for the cancellation: an endless answer may never confirm it.
      reader.cancel().catch(() => {});
      throw unusable('too_large');
    }
    chunks.push(part.value);
  }
  return decodeUtf8(chunks);
}

/**
 * A web stream has a reader. A stream of Node, as the fetch of other packages returns, is iterated
 * over instead.
 */
function readerOf(body: FetchedResponse['body']): BodyReader | undefined {
  if (!body) return undefined;
  if ('getReader' in body) return body.getReader();
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]?.();
  return chunks && { read: () => chunks.next(), cancel: async () => chunks.return?.() };
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode();
  } catch {
    throw unusable('not_utf8');
  }
}

function unusable(reason: 'too_large' | 'not_utf8'): Error {
  const message = `The token endpoint's answer is no usable bearer token (${reason}).`;
  return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason, retryAt: undefined });
}

/** The way in which the runtime connects a token request. */
interface Connection {
  /** Replaces the runtime's fetch. */
  readonly send?: TokenFetch;
  /** Further members for the init of fetch. */
  readonly init: object;
  /** Frees the connection. Call it after the answer was read, or if there is none. */
  close(): void;
}

interface Runtimes {
  readonly Bun?: unknown;
  readonly Deno?: { createHttpClient?(options: object): { close(): void } };
}

/** Returns whether core connects to an address without a proxy. */
export function isDirect(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url);
}

/**
 * Connects to loopback without a proxy. http: is allowed there because nobody else can read the
 * request. A proxy of the environment (HTTP_PROXY, ALL_PROXY) could read it.
 */
function connectionTo(address: string): Connection {
  const { Bun, Deno } = globalThis as Runtimes;
  const url = new URL(address);
  const avoidsProxy = isDirect(url);
  // On Deno, fetch sends a POST again if a reused connection ends without an answer, or if an
  // HTTP/2 stream is refused. So each token request gets a new HTTP/1.1 connection.
  const options = { poolMaxIdlePerHost: 0, http2: false, ...(avoidsProxy && { proxy: ownProperties(itself(url)) }) };
  const client = Deno?.createHttpClient?.(ownProperties(options));
  if (client) return { init: { client }, close: () => client.close() };
  const init = avoidsProxy && Bun ? { proxy: false } : {};
  return { init, close() {}, ...(avoidsProxy && usesNodeProxy() && { send: nodeFetch }) };
}

/**
 * Returns a proxy option that connects to the address itself. Deno uses no other proxy if it has
 * this one.
 */
function itself({ hostname, port }: URL) {
  return { transport: 'tcp', hostname, port: Number(port || 80) };
}
