/**
 * Returns whether headers have an `Authorization`, in upper or lower case: a caller's own wins, so a request that has one gets no token. `headers`: an object, a
 * list of pairs, or a list in which names and values alternate.
 */
export function hasAuthorization(headers: object | null | undefined): boolean {
  if (!Array.isArray(headers)) {
    for (const name in headers) if (isAuthorization(name) && Object.hasOwn(headers, name)) return true;
    return false;
  }
  if (Array.isArray(headers[0])) return headers.some(([name]) => isAuthorization(name));
  return headers.some((name, index) => index % 2 === 0 && isAuthorization(name));
}

/** Compares the lengths first: to change the case of each name would take longer than everything else. */
function isAuthorization(name: { readonly length: number }): boolean {
  return name.length === 'authorization'.length && String(name).toLowerCase() === 'authorization';
}
