import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { descriptionOf } from './descriptions.ts';
import { sidebar } from './navigation.ts';
import { repositoryUrl, siteLink } from './repository.ts';
import { withTables } from './tables.ts';

interface Text {
  /** The path of the page on the site: `errors`, `decisions/index`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** Writes the Markdown of each page beside it, and the list of them for programs that read: `llms.txt`. */
export function writeTexts(config: SiteConfig, siteUrl: URL): void {
  const texts = textsOf(config);
  for (const { path, markdown } of texts) {
    const file = join(config.outDir, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdown);
  }
  const linkTo = ({ path, title, markdown }: Text) =>
    `- [${title}](${new URL(`${config.site.base}${path}.md`, siteUrl)}): ${descriptionOf(markdown)}`;
  const groups = sidebar().map(({ text = '', items = [] }) => {
    const paths = items.map(({ link = '' }) => link.slice(1).replace(/(?<=^|\/)$/, 'index'));
    return { text, pages: paths.flatMap((path) => texts.filter((each) => each.path === path)) };
  });
  const grouped = groups.flatMap(({ pages }) => pages);
  const others = { text: 'More', pages: texts.filter((each) => !grouped.includes(each)) };
  const parts = [...groups, others].map(({ text, pages }) => `## ${text}\n\n${pages.map(linkTo).join('\n')}\n`);
  const list = `# ${config.site.title}\n\n> ${config.site.description}\n\n${parts.join('\n')}`;
  writeFileSync(join(config.outDir, 'llms.txt'), list);
}

/** Lets the links and pictures of a page lead to the right places when it is read as Markdown. `from`: the path of the page in the repository. */
export function withSiteLinks(markdown: string, from: string, base: string): string {
  const links = /^(`{3,})[\s\S]*?^\1|`[^`\n]*`|\]\(([^)\s]+)\)/gm;
  const pictures = /(src|srcset)="(?![a-z]+:|\/)([^"]+)"/g;
  return markdown
    .replace(links, (found: string, _: string | undefined, target: string | undefined) => {
      if (target === undefined) return found;
      const link = siteLink(target, from);
      return `](${link.startsWith('/') ? base + link.slice(1) : link})`;
    })
    .replace(pictures, (_, name: string, path: string) => {
      const file = join(dirname(from), path);
      return `${name}="${repositoryUrl}/raw/main/${file}"`;
    });
}

function textsOf({ pages, srcDir, dynamicRoutes, rewrites, site }: SiteConfig): Text[] {
  return pages.map((page) => {
    const route = dynamicRoutes.find(({ path }) => path === page);
    const file = join(srcDir, route?.route ?? page);
    const source = route?.content ?? readFileSync(file, 'utf8');
    const text = withTables(withSnippets(source, dirname(file)))
      .replace(/^---\n.*?\n---\n+/s, '')
      .replace(/^<\/?(?:LiveBudget|StoreChooser)(?: \/)?>\n+/gm, '');
    const markdown = withSiteLinks(text, `docs/${page}`, site.base);
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? page;
    return { path: (rewrites.map[page] ?? page).replace(/\.md$/, ''), title, markdown };
  });
}

/** Puts each file of the repository that a page shows into its text. */
function withSnippets(markdown: string, folder: string): string {
  return markdown.replace(/^<<< ([^\s#{]+)(?:#(\w+))?.*$/gm, (_, path: string, region?: string) => {
    const text = readFileSync(join(folder, path), 'utf8');
    const shown = region ? regionOf(text, region) : text;
    return `\`\`\`${extname(path).slice(1)}\n${shown.trimEnd()}\n\`\`\``;
  });
}

/** The lines between `#region` and `#endregion`, without their common indentation. */
function regionOf(text: string, region: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.trim() === `// #region ${region}`);
  const to = lines.findIndex((line) => line.trim() === `// #endregion ${region}`);
  if (from < 0 || to < 0) throw new Error(`There is no region ${region}.`);
  const indentation = lines[from]?.search(/\S/) ?? 0;
  const inside = lines.slice(from + 1, to).map((line) => line.slice(indentation));
  return inside.join('\n');
}
