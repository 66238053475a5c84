import type { DefaultTheme, MarkdownEnv, MarkdownRenderer } from 'vitepress';
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

/** The search of the site. */
export const search: DefaultTheme.LocalSearchOptions = {
  detailedView: true,
  _render: render,
  miniSearch: {
    searchOptions: {
      fuzzy: 0.1,
      // Who searches for "test" has code to test, so the evidence and the decisions come last. The page gets this function as text.
      boostDocument: (page: string) =>
        /\/(decisions\/|evidence\/|reference\/|performance|reliability)/.test(page) ? 0.3 : 1,
    },
  },
};

/** VitePress looks for a file of each page, and the pages of a route have none: their text comes from the route. */
async function render(text: string, env: MarkdownEnv, md: MarkdownRenderer): Promise<string> {
  const html = await md.renderAsync(text === '' ? await textOfRoute(env.relativePath) : text, env);
  return env.frontmatter?.['search'] === false ? '' : html;
}

async function textOfRoute(path: string): Promise<string> {
  const [, folder = '', page = ''] = /^(\w+)\/(.+)\.md$/.exec(path) ?? [];
  const found = (await routes[folder]?.paths())?.find(({ params }) => params.page === page);
  if (!found) throw new Error(`The search found neither a file nor a route for ${path}.`);
  return found.content;
}
