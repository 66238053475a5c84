import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the built site. */
export const dist: string = fileURLToPath(new URL('../../.vitepress/dist', import.meta.url));

/** The path below which the built site is: `/`, or `/service-auth/`. */
export function readBase(): string {
  const [, start = ''] = /<loc>([^<]+)<\/loc>/.exec(readFileSync(join(dist, 'sitemap.xml'), 'utf8')) ?? [];
  return new URL('.', start).pathname;
}

/** The file that a static host sends for a path of the site. Undefined: it has none, and answers 404. */
export function fileAt(path: string, base: string): string | undefined {
  if (!path.startsWith(base)) return undefined;
  const name = decodeURIComponent(path.slice(base.length));
  return [name, `${name}.html`, join(name, 'index.html')].find(isFile);
}

function isFile(name: string): boolean {
  return statSync(join(dist, name), { throwIfNoEntry: false })?.isFile() ?? false;
}
