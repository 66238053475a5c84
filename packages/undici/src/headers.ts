import type { AccessToken } from '@service-auth/core';
import type { Dispatcher } from 'undici';

type Headers = Dispatcher.DispatchOptions['headers'];
type Pairs = Iterable<[name: string, value: string]>;

/**
 * True if headers are an iterable other than an array, such as a `Map`. An iterator on a polluted
 * `Object.prototype` makes no object one.
 */
export function isIterable(headers: Headers): boolean {
  if (!headers || Array.isArray(headers) || !(Symbol.iterator in headers)) return false;
  return headers[Symbol.iterator] !== (Object.prototype as { [Symbol.iterator]?: unknown })[Symbol.iterator];
}

/**
 * Returns the headers of a request in a form that can be read again and again: an iterator over
 * pairs can be read only once, and some interceptors accept objects only. An iterable that yields
 * no pairs becomes an iterator of the same values.
 */
export function fieldsOf(headers: Headers): Headers {
  if (!isIterable(headers)) return headers;
  const pairs = [...(headers as Pairs)];
  if (!pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) return pairs.values();
  return joined(pairs);
}

/** Joins pairs. A name that came several times gets a list of its values. */
function joined(pairs: Pairs): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) fields[name] = name in fields ? [fields[name] ?? [], value].flat() : value;
  return fields;
}

/** Returns the headers with the token. */
export function withToken(headers: Headers, { authorization }: AccessToken): NonNullable<Headers> {
  return Array.isArray(headers) ? [...headers, 'authorization', authorization] : { ...headers, authorization };
}

/**
 * Returns the headers of an answer by their names in lower case. undici 6 hands them out as they
 * arrived: names and values in turn, as bytes.
 */
export function answerHeadersOf(headers: unknown): Dispatcher.ResponseData['headers'] {
  if (!Array.isArray(headers)) return { ...(headers as Dispatcher.ResponseData['headers']) };
  const textAt = (at: number) => Buffer.from(headers[at]).toString('latin1');
  const pairs = headers.flatMap((_, at): [string, string][] => {
    return at % 2 === 0 ? [[textAt(at).toLowerCase(), textAt(at + 1)]] : [];
  });
  return joined(pairs);
}
