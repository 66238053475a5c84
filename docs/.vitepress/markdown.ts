import type { MarkdownOptions } from 'vitepress';
import { siteLink } from './repository.ts';
import { withTables } from './tables.ts';

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Lets the pages that GitHub shows lead to the right places on the site, too. */
export function adaptPages(md: MarkdownIt): void {
  md.core.ruler.before('normalize', 'tables of data', (state) => {
    state.src = withTables(state.src);
  });
  md.core.ruler.push('labels of cells', ({ tokens }) => {
    let labels: string[] = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'table_open') labels = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'th_open') labels.push(tokens[index + 1]?.content.replaceAll('`', '') ?? '');
      // On a phone each row is a card, whose cells say what they are.
      if (token.type === 'td_open') token.attrSet('data-label', labels[column++] ?? '');
    }
  });
  md.core.ruler.push('links of the repository', ({ tokens, env }) => {
    const from = `docs/${env.relativePath ?? ''}`;
    for (const token of tokens) {
      if (token.type === 'html_block') token.content = themedPictures(token.content);
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') child.attrSet('href', siteLink(child.attrGet('href') ?? '', from));
      }
    }
  });
}

/** A `<picture>` heeds the system's theme. On the site the reader chooses one. */
function themedPictures(html: string): string {
  return html.replace(
    /<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g,
    (_, dark, alt, light) => {
      const both = `<img class="only-light" alt="${alt}" src="./${light}"><img class="only-dark" alt="${alt}" src="./${dark}">`;
      // On a phone a terminal is moved sideways, like code, because its type would be too small.
      return light.includes('command-line/') ? `<div class="terminal" tabindex="0">${both}</div>` : both;
    },
  );
}
