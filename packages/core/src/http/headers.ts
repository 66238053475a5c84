import type { TokenSource } from '../contract/token-source.ts';

/**
 * Returns whether headers have an `Authorization`, in upper or lower case: a caller's own wins, so a request that has one gets no token. `headers`: an object, a
 * list of pairs, or a list in which names and values alternate. `auth`: the client that covers the address of the request. It warns once if they have one.
 */
export function hasAuthorization(
  headers: object | null | undefined,
  auth?: Pick<TokenSource, 'reportBypass'>,
): boolean {
  const list = Array.isArray(headers) ? headers : Object.entries(Object(headers));
  const isPairs = Array.isArray(list[0]);
  // Values stand at odd places.
  const isOwn = list.some((entry, index) => /^authorization$/i.test(isPairs ? entry[0] : index % 2 || entry));
  if (isOwn) auth?.reportBypass?.();
  return isOwn;
}
