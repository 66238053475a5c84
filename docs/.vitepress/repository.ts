import { readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly repository: { readonly url: string };
}

const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

/** The address of the repository, from its `package.json`. */
export const repositoryUrl: string = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** Documents that lie outside of docs, and their pages. */
const pages: Readonly<Record<string, string>> = {
  'README.md': '/project/overview.md',
  'SECURITY.md': '/project/security.md',
  'CONTRIBUTING.md': '/project/contributing.md',
};

/**
 * Returns where a link of a document leads on the site. `from`: the path of the document in the repository. Pages link to each other, and everything
 * else is on GitHub.
 */
export function siteLink(target: string, from: string): string {
  if (target === '' || /^([a-z]+:|#|\/)/i.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = normalize(join(dirname(from), decodeURIComponent(path))).replace(/\/$/, '');
  return pageOf(file) + (anchor ? `#${anchor}` : '');
}

function pageOf(file: string): string {
  const readme = /^packages\/([^/]+)(\/README\.md)?$/.exec(file)?.[1];
  if (readme) return `/packages/${readme}.md`;
  if (file === 'docs/decisions' || file === 'docs/decisions/README.md') return '/decisions/index.md';
  if (file.startsWith('docs/') && file.endsWith('.md')) return file.slice('docs'.length);
  return pages[file] ?? gitHubLink(file);
}

/** Returns the address of a file or folder of the repository on GitHub. */
function gitHubLink(file: string): string {
  const kind = statSync(join(root, file)).isDirectory() ? 'tree' : 'blob';
  return `${repositoryUrl}/${kind}/main/${file}`;
}

/** Returns the text of a document that lies outside of docs, with the links and the pictures of its page. */
export function readAsPage(file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  return text
    .replace(/(?<=!\[[^\]]*\]\()docs\//g, '../')
    .replace(/(?<!!\[[^\]]*)\]\(([^)\s]+)\)/g, (_, target: string) => `](${siteLink(target, file)})`)
    .replace(/(src|srcset)="docs\//g, '$1="../');
}
