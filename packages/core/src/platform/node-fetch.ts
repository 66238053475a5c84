import { builtinModule } from './builtin-module.ts';
import { ownProperties, ownProperty } from './untrusted.ts';

/** The part of fetch that a token request uses. */
export type TokenFetch = (url: string, init: TokenRequestInit) => Promise<FetchedResponse>;

/** The init of a token request. */
export interface TokenRequestInit {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  redirect: 'manual';
}

/**
 * The part of a response that is read. The types of undici's fetch differ from those of the global
 * one.
 */
export interface FetchedResponse extends Pick<Response, 'status' | 'type' | 'ok' | 'text'> {
  readonly headers: { get(name: string): string | null };
  /** A web stream, or a stream of Node as with node-fetch. Without either, `text()` is called. */
  readonly body?: { getReader(): BodyReader } | AsyncIterable<unknown> | null | undefined;
}

/** Reads a body in chunks of bytes. */
export interface BodyReader {
  read(): Promise<{ done?: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(): Promise<unknown>;
}

/**
 * Creates an init of which a polluted `Object.prototype` cannot redirect the request. Node copies
 * an init into an ordinary object before it reads the missing members, so a `dispatcher` that the
 * prototype has is set to the default.
 */
export function fetchInit<Init extends object>(members: Init): Init {
  const init = ownProperties(members);
  if ('dispatcher' in Object.prototype) Object.assign(init, { dispatcher: nodeDispatcher() });
  return init;
}

/** Returns the dispatcher that Node's fetch uses by default. */
function nodeDispatcher(): unknown {
  // Node creates the dispatcher when it loads its fetch, which the first use of this class does.
  void Headers;
  return [2, 1]
    .map((version) => ownProperty(globalThis, Symbol.for(`undici.globalDispatcher.${version}`)))
    .find(Boolean);
}

// Without TLS a proxy could read the client secret. The fetch of Node has no option against a
// proxy; `node:http` has one.

/** The part of `node:http` that is used here. */
interface NodeHttp {
  request(url: string, options: object, answered: (message: NodeMessage) => void): NodeRequest;
}

interface NodeRequest {
  on(event: 'error', listener: (error: unknown) => void): void;
  end(body: string): void;
}

interface NodeMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Returns whether the fetch of Node uses a proxy: with NODE_USE_ENV_PROXY, with --use-env-proxy, or
 * after `setGlobalDispatcher()` of undici.
 */
export function usesNodeProxy(): boolean {
  return globalDispatchers().some(isProxyAgent);
}

/**
 * Returns the dispatcher that the fetch of Node uses. Before the first call of fetch there may be
 * none.
 */
export function globalDispatchers(): readonly object[] {
  // undici 8 keeps its dispatcher under the number 2, and a dispatcher for older versions under the
  // number 1.
  const found = [1, 2].map((version) => ownProperty(globalThis, Symbol.for(`undici.globalDispatcher.${version}`)));
  return found.filter((dispatcher) => dispatcher === Object(dispatcher)) as object[];
}

function isProxyAgent(dispatcher: unknown): boolean {
  if (dispatcher !== Object(dispatcher)) return false;
  const name = (dispatcher as object).constructor?.name ?? '';
  return /ProxyAgent$/.test(name) || isProxyAgent(Object.getPrototypeOf(dispatcher));
}

// Node reads missing options from `Object.prototype`, so these are set.
const unset = {
  auth: undefined,
  createConnection: undefined,
  localAddress: undefined,
  lookup: undefined,
  socketPath: undefined,
};

/** Sends a request without a proxy, even if the environment names one. */
export async function nodeFetch(url: string, init: TokenRequestInit): Promise<FetchedResponse> {
  const http = builtinModule('node:http') as NodeHttp | undefined;
  const { method, signal, body } = init;
  const headers = ownProperties({ ...init.headers, 'content-length': `${new TextEncoder().encode(body).length}` });
  // Use no agent, because the agent of the process may know a proxy.
  const options = ownProperties({ ...unset, method, headers, signal, agent: false });
  return new Promise((resolve, reject) => {
    const request = http?.request(url, options, (message) => resolve(responseOf(message)));
    request?.on('error', reject);
    request?.end(body);
  });
}

function responseOf(message: NodeMessage): FetchedResponse {
  const { statusCode: status, headers } = message;
  return {
    status,
    type: 'default',
    ok: status >= 200 && status < 300,
    headers: { get: (name) => [ownProperty(headers, name) ?? []].flat().join(', ') || null },
    body: message,
    text: async () => '',
  };
}
