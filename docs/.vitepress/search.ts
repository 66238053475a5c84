import type { DefaultTheme, MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { textOfRoute } from './routes.ts';

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
