import type { AccessToken } from '@service-auth/core';

/** Headers in the two forms that cost nothing to copy: building a `Headers` takes longer than everything else here. */
export type Fields = Record<string, string> | [name: string, value: string][];

const isAuthorization = (name: string): boolean =>
  name.length === 'authorization'.length && name.toLowerCase() === 'authorization';

/** A copy, whatever headers are given as; undefined if there is an `Authorization` among them. */
export function fieldsWithoutAuthorization(headers: RequestInit['headers']): Fields | undefined {
  if (!headers) return {};
  if (Symbol.iterator in headers) {
    const pairs = [...(headers as Iterable<[string, string]>)];
    return pairs.some(([name]) => isAuthorization(name)) ? undefined : pairs;
  }
  for (const name in headers) if (isAuthorization(name)) return undefined;
  return { ...(headers as Record<string, string>) };
}

/** The headers with the token. */
export function withToken(fields: Fields, { authorization }: AccessToken): Fields {
  return Array.isArray(fields) ? [...fields, ['authorization', authorization]] : { ...fields, authorization };
}

/** The headers without those whose name matches. */
export function without(fields: Fields, names: RegExp): Fields {
  return (Array.isArray(fields) ? fields : Object.entries(fields)).filter(([name]) => !names.test(name));
}
