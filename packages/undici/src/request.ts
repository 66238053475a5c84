import type { AccessToken } from '@service-auth/core';
import type { Dispatcher } from 'undici';

type Headers = Dispatcher.DispatchOptions['headers'];
type Pairs = Iterable<[name: string, value: string]>;

const isAuthorization = (name: { readonly length: number }): boolean =>
  name.length === 'authorization'.length && String(name).toLowerCase() === 'authorization';

/** Where a request goes; nothing that a token covers if that is not in the request, as with a `Client` of undici 6 and 7. */
export function urlOf({ origin = '', path }: Dispatcher.DispatchOptions): string {
  if (typeof origin !== 'string') return origin.origin + path;
  return (origin.endsWith('/') ? origin.slice(0, -1) : origin) + path;
}

/**
 * The headers in a form that can be read again, and copied by other interceptors, some of which know objects only: what iterates over pairs
 * may do so only once.
 */
export function readHeaders(headers: Headers): Headers {
  if (!headers || Array.isArray(headers) || !(Symbol.iterator in headers)) return headers;
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of headers as Pairs)
    fields[name] = name in fields ? [fields[name] ?? [], value].flat() : value;
  return fields;
}

/** Whether there is an `Authorization` among the headers: an object, or a list of names and values in turn. */
export function hasAuthorization(headers: Headers): boolean {
  if (!headers) return false;
  if (Array.isArray(headers)) return headers.some((name, index) => index % 2 === 0 && isAuthorization(name));
  for (const name in headers) if (isAuthorization(name)) return true;
  return false;
}

/** The headers with the token. */
export function withToken(headers: Headers, { authorization }: AccessToken): NonNullable<Headers> {
  return Array.isArray(headers) ? [...headers, 'authorization', authorization] : { ...headers, authorization };
}

/** What ends the wait for a token. undici takes event emitters, too: their abort is noticed when the token is there. */
export function signalOf(options: Dispatcher.DispatchOptions & { signal?: unknown }): AbortSignal | undefined {
  const signal = options.signal as Partial<AbortSignal> | null | undefined;
  return signal?.addEventListener ? (signal as AbortSignal) : undefined;
}
