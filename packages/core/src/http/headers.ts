/**
 * Returns whether headers have an `Authorization`, in upper or lower case: a caller's own wins, so a request that has one gets no token. `headers`: an object, a
 * list of pairs, or a list in which names and values alternate.
 */
export function hasAuthorization(headers: object | null | undefined): boolean {
  const list = Array.isArray(headers) ? headers : Object.entries(Object(headers));
  const isPairs = Array.isArray(list[0]);
  // Values stand at odd places.
  return list.some((entry, index) => /^authorization$/i.test(isPairs ? entry[0] : index % 2 || entry));
}
