import type { AccessToken, TokenSource } from '@service-auth/core';
import type { Dispatcher } from 'undici';

type Headers = Dispatcher.DispatchOptions['headers'];
type Pairs = Iterable<[name: string, value: string]>;

const isAuthorization = (name: { readonly length: number }): boolean =>
  name.length === 'authorization'.length && String(name).toLowerCase() === 'authorization';

/**
 * Creates a function that returns whether `auth` covers the URL of a request. It remembers the last origin: joining each origin and path would take
 * longer than all other work before a request. If the root of an origin is covered, the whole origin is.
 */
export function coverageOf(auth: TokenSource): (options: Dispatcher.DispatchOptions) => boolean {
  let last: string | undefined;
  let isWholeCovered = false;
  return (options) => {
    const { origin, path } = options;
    if (typeof origin === 'string' && origin !== last) {
      last = origin;
      isWholeCovered = URL.canParse(origin) && auth.covers(new URL('/', origin));
    }
    return (origin === last && isWholeCovered && path.startsWith('/')) || auth.covers(urlOf(options));
  };
}

/** The URL of a request. If the request does not contain its origin, as with a `Client` of undici 6 and 7, the result is covered by no client. */
function urlOf({ origin = '', path }: Dispatcher.DispatchOptions): string {
  if (typeof origin !== 'string') return origin.origin + path;
  return (origin.endsWith('/') ? origin.slice(0, -1) : origin) + path;
}

/**
 * The headers in a form that can be read repeatedly, because an iterator over pairs can be read only once. Some other interceptors
 * accept objects only.
 */
export function readHeaders(headers: Headers): Headers {
  if (!headers || Array.isArray(headers) || !(Symbol.iterator in headers)) return headers;
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of headers as Pairs)
    fields[name] = name in fields ? [fields[name] ?? [], value].flat() : value;
  return fields;
}

/** True if the headers contain an `Authorization`. They are an object, or a list in which names and values alternate. */
export function hasAuthorization(headers: Headers): boolean {
  if (!headers) return false;
  if (Array.isArray(headers)) return headers.some((name, index) => index % 2 === 0 && isAuthorization(name));
  for (const name in headers) if (isAuthorization(name) && Object.hasOwn(headers, name)) return true;
  return false;
}

/** Adds the token. */
export function withToken(headers: Headers, { authorization }: AccessToken): NonNullable<Headers> {
  return Array.isArray(headers) ? [...headers, 'authorization', authorization] : { ...headers, authorization };
}

/** The signal that ends the wait for a token. undici also accepts event emitters: their abort takes effect after the wait. */
export function signalOf(options: Dispatcher.DispatchOptions & { signal?: unknown }): AbortSignal | undefined {
  const signal = options.signal as Partial<AbortSignal> | null | undefined;
  return signal?.addEventListener ? (signal as AbortSignal) : undefined;
}
