import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Project {
  readonly repository: { readonly url: string };
  /** The address of the site, once it has one that can be kept. */
  readonly homepage?: string;
}

const readProject = (): Project =>
  JSON.parse(readFileSync(fileURLToPath(new URL('../../../../package.json', import.meta.url)), 'utf8'));

/**
 * Returns the address of the page to which the errors of a version of core link. It must be right for as long as somebody runs that version: on GitHub it
 * has the tag of the version, and on the site a redirect. Whatever has no version yet links to the newest page.
 */
export function errorPageOf(version: string, { repository, homepage }: Project = readProject()): string {
  if (homepage) return `${homepage.replace(/\/$/, '')}/${errorPathOf(version)}`;
  const url = repository.url.replace(/^git\+|\.git$/g, '');
  return `${url}/blob/${version === '0.0.0' ? 'main' : `@service-auth/core@${version}`}/docs/errors.md`;
}

/** Returns the path on the site that leads to the page about the errors of a version. */
export function errorPathOf(version: string): string {
  return version === '0.0.0' ? 'errors' : `v/${version}/errors`;
}
