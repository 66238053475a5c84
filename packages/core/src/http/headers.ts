/**
 * Returns whether headers have an `Authorization`, in upper or lower case: a caller's own wins, so a request that has one gets no token. `headers`: an object, a
 * list of pairs, or a list in which names and values alternate.
 */
export function hasAuthorization(headers: object | null | undefined): boolean {
  const list: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  const names = list.map((entry, index) =>
    Array.isArray(list[0]) ? (entry as unknown[])[0] : index % 2 === 0 && entry,
  );
  return names.some((name) => /^authorization$/i.test(name as string));
}
