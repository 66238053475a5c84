import type { AccessToken } from '@service-auth/core';

/**
 * Headers in the two forms that are fast to copy: creating a `Headers` takes longer than all other
 * work of this package.
 */
export type Fields = Record<string, string> | [name: string, value: string][];

/** Returns a copy of the headers of a request, which may have any form. */
export function fieldsOf(headers: RequestInit['headers']): Fields {
  if (!headers) return {};
  return Symbol.iterator in headers
    ? [...(headers as Iterable<[string, string]>)]
    : { ...(headers as Record<string, string>) };
}

/** Returns the headers with the token. */
export function withToken(fields: Fields, { authorization }: AccessToken): Fields {
  return Array.isArray(fields) ? [...fields, ['authorization', authorization]] : { ...fields, authorization };
}

/** Returns the headers without those of these names, which must be in lower case. */
export function without(fields: Fields, names: readonly string[]): Fields {
  if (names.length === 0) return fields;
  return (Array.isArray(fields) ? fields : Object.entries(fields)).filter(
    ([name]) => !names.includes(name.toLowerCase()),
  );
}
