import { ownProperties } from './foreign.ts';
import { nodeFetch, usesNodeProxy } from './node-fetch.ts';
import type { TokenFetch } from './token-fetch.ts';
import { isLoopback } from './url-scope.ts';

/** How a token request is connected by the runtime's own fetch. */
export interface Connection {
  /** In place of that fetch. */
  readonly send?: TokenFetch;
  /** What its init says besides. */
  readonly init: object;
  /** Must be called when the answer was read, or there is none. */
  close(): void;
}

interface Runtimes {
  readonly Bun?: unknown;
  readonly Deno?: { createHttpClient?(options: object): { close(): void } };
}

/**
 * Connects to loopback without a proxy: http: is allowed there because nobody else reads what is sent, and a proxy of the environment
 * (HTTP_PROXY, ALL_PROXY) would.
 */
export function connectionTo(address: string): Connection {
  const { Bun, Deno } = globalThis as Runtimes;
  const url = new URL(address);
  const isDirect = url.protocol === 'http:' && isLoopback(url);
  // On Deno, fetch sends a POST again if a connection that was used before ends without an answer, or if a stream of HTTP/2 is refused.
  // So each token request gets a new connection, of HTTP/1.1.
  const options = { poolMaxIdlePerHost: 0, http2: false, ...(isDirect && { proxy: ownProperties(itself(url)) }) };
  const client = Deno?.createHttpClient?.(ownProperties(options));
  if (client) return { init: { client }, close: () => client.close() };
  const init = isDirect && Bun ? { proxy: false } : {};
  return { init, close() {}, ...(isDirect && usesNodeProxy() && { send: nodeFetch }) };
}

/** For Deno, which goes through no other proxy if it is told one. This one is a connection to the address itself. */
function itself({ hostname, port }: URL) {
  return { transport: 'tcp', hostname, port: Number(port || 80) };
}
