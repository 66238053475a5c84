import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';

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
  const links = texts.map(({ path, title }) => `- [${title}](${new URL(`${config.site.base}${path}.md`, siteUrl)})`);
  const list = `# ${config.site.title}\n\n> ${config.site.description}\n\n## Pages\n\n${links.join('\n')}\n`;
  writeFileSync(join(config.outDir, 'llms.txt'), list);
}

function textsOf({ pages, srcDir, dynamicRoutes, rewrites }: SiteConfig): Text[] {
  return pages.map((page) => {
    const route = dynamicRoutes.find(({ path }) => path === page);
    const file = join(srcDir, route?.route ?? page);
    const source = route?.content ?? readFileSync(file, 'utf8');
    const markdown = withSnippets(source, dirname(file)).replace(/^---\n.*?\n---\n+/s, '');
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
