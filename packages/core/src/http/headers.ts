import type { TokenSource } from '../contract/token-source.ts';

/**
 * Returns whether headers have an `Authorization`, in upper or lower case: a caller's own wins, so
 * a request that has one gets no token. `headers`: an object, a list of pairs, or a list in which
 * names and values alternate. `auth`: the client that covers the address of the request. It warns
 * once if they have one.
 */
export function hasAuthorization(
  headers: object | null | undefined,
  auth?: Pick<TokenSource, 'reportBypass'>,
): boolean {
  const isOwn = namesIn(headers).some((name) => String(name).length === 13 && /^authorization$/i.test(String(name)));
  if (isOwn) auth?.reportBypass?.();
  return isOwn;
}

function namesIn(headers: object | null | undefined): unknown[] {
  if (!Array.isArray(headers)) return Object.keys(Object(headers));
  // Values stand at odd places.
  return Array.isArray(headers[0]) ? headers.map(([name]) => name) : headers.filter((_, index) => index % 2 === 0);
}
