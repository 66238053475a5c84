import { readPackages } from '../../tests/support/tools/packages/packages.ts';
import { referencePages } from './reference.ts';
import { readAsPage } from './repository.ts';

/** A page that has no file of its own: the name of the page, and its Markdown. */
export interface Route {
  readonly params: { readonly page: string };
  readonly content: string;
}

const introduction = `# Reference

These pages are made from the doc comments of the sources. Each entry of a package has a page. Begin with [\`createServiceAuth\`](./core.md).`;

/** The pages of each folder whose pages have no files. */
export const routes = {
  packages: (): Route[] => readPackages().map(({ name }) => routeOf(name, `packages/${name}/README.md`)),
  project: (): Route[] => [
    routeOf('overview', 'README.md'),
    routeOf('security', 'SECURITY.md'),
    routeOf('contributing', 'CONTRIBUTING.md'),
  ],
  async reference(): Promise<Route[]> {
    const pages = await referencePages();
    const list = pages
      .map(({ name, specifier, names }) => `- [\`${specifier}\`](./${name}.md): ${names.join(', ')}`)
      .join('\n');
    return [
      { params: { page: 'index' }, content: `${introduction}\n\n${list}\n` },
      ...pages.map(({ name, markdown }) => ({ params: { page: name }, content: markdown })),
    ];
  },
};

function routeOf(page: string, document: string): Route {
  return { params: { page }, content: readAsPage(document) };
}

/** Returns the Markdown of such a page. `path`: the page's path below docs, such as `packages/axios.md`. */
export async function textOfRoute(path: string): Promise<string> {
  const [, folder = '', page = ''] = /^(\w+)\/(.+)\.md$/.exec(path) ?? [];
  const found = (await routes[folder as keyof typeof routes]?.())?.find(({ params }) => params.page === page);
  if (!found) throw new Error(`There is neither a file nor a route for ${path}.`);
  return found.content;
}
