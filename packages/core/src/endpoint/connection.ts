import { isLoopback } from '../platform/address.ts';
import { nodeFetch, usesNodeProxy } from '../platform/node-fetch.ts';
import type { TokenFetch } from '../platform/token-fetch.ts';
import { ownProperties } from '../platform/untrusted.ts';

/** The way in which the runtime connects a token request. */
export interface Connection {
  /** Replaces the runtime's fetch. */
  readonly send?: TokenFetch;
  /** More members for the init of fetch. */
  readonly init: object;
  /** Frees the connection. Call it after the answer was read, or if there is none. */
  close(): void;
}

interface Runtimes {
  readonly Bun?: unknown;
  readonly Deno?: { createHttpClient?(options: object): { close(): void } };
}

/** Whether core connects to an address without a proxy. */
export function isDirect(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url);
}

/**
 * Connects to loopback without a proxy. http: is allowed there because nobody else can read the request. A proxy of the environment (HTTP_PROXY,
 * ALL_PROXY) could read it.
 */
export function connectionTo(address: string): Connection {
  const { Bun, Deno } = globalThis as Runtimes;
  const url = new URL(address);
  const avoidsProxy = isDirect(url);
  // On Deno, fetch sends a POST again if a reused connection ends without an answer, or if an HTTP/2 stream is refused. So each token request
  // gets a new HTTP/1.1 connection.
  const options = { poolMaxIdlePerHost: 0, http2: false, ...(avoidsProxy && { proxy: ownProperties(itself(url)) }) };
  const client = Deno?.createHttpClient?.(ownProperties(options));
  if (client) return { init: { client }, close: () => client.close() };
  const init = avoidsProxy && Bun ? { proxy: false } : {};
  return { init, close() {}, ...(avoidsProxy && usesNodeProxy() && { send: nodeFetch }) };
}

/** Returns a proxy option that connects to the address itself. Deno uses no other proxy if it has this one. */
function itself({ hostname, port }: URL) {
  return { transport: 'tcp', hostname, port: Number(port || 80) };
}
