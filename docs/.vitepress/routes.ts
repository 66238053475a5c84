import packageRoutes from '../packages/[page].paths.ts';
import projectRoutes from '../project/[page].paths.ts';
import referenceRoutes from '../reference/[page].paths.ts';

interface Route {
  readonly params: { readonly page: string };
  readonly content: string;
}

const routes: Readonly<Record<string, { readonly paths: () => readonly Route[] | Promise<readonly Route[]> }>> = {
  packages: packageRoutes,
  project: projectRoutes,
  reference: referenceRoutes,
};

/** Returns the Markdown of a page that has no file of its own. `path`: the page's path below docs, such as `packages/axios.md`. */
export async function textOfRoute(path: string): Promise<string> {
  const [, folder = '', page = ''] = /^(\w+)\/(.+)\.md$/.exec(path) ?? [];
  const found = (await routes[folder]?.paths())?.find(({ params }) => params.page === page);
  if (!found) throw new Error(`There is neither a file nor a route for ${path}.`);
  return found.content;
}
