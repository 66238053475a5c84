import type { AccessToken } from '@service-auth/core';
import type { Dispatcher } from 'undici';

type Headers = Dispatcher.DispatchOptions['headers'];
type Pairs = Iterable<[name: string, value: string]>;

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

/** Adds the token. */
export function withToken(headers: Headers, { authorization }: AccessToken): NonNullable<Headers> {
  return Array.isArray(headers) ? [...headers, 'authorization', authorization] : { ...headers, authorization };
}
