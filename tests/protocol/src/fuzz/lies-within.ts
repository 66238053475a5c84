/** True if a request to `url` stays at or below the path of `base`, even if a server decodes the path once more. It does not use core's code, on purpose. */
export function liesWithin(base: URL, url: URL): boolean {
  if (url.protocol !== base.protocol || url.host !== base.host || url.username !== '' || url.password !== '')
    return false;
  const root = partsOf(base.pathname);
  return [url.pathname, decoded(url.pathname)].every((path) => {
    const parts = partsOf(path);
    return root.every((part, index) => parts[index] === part);
  });
}

function decoded(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]+/)) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}
