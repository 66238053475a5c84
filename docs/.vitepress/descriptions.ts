import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './repository.ts';
import { textOfRoute } from './routes.ts';

// Search engines cut longer ones.
const longest = 160;

/** Returns what a page says first, for search engines and previews of links. `path`: the page's path below docs. */
export async function descriptionOfPage(path: string): Promise<string> {
  const file = join(root, 'docs', path);
  const [, specifier] = /^# (@\S+)/.exec(path.startsWith('reference/') ? await textOfRoute(path) : '') ?? [];
  if (specifier !== undefined)
    return `The API of ${specifier}: every function, option and type, from the doc comments.`;
  return descriptionOf(existsSync(file) ? readFileSync(file, 'utf8') : await textOfRoute(path));
}

/** Returns the first sentences of a page, as many as fit. */
export function descriptionOf(markdown: string): string {
  const blocks = markdown
    .replace(/^---\n.*?\n---\n/s, '')
    .replace(/^(`{3,})[\s\S]*?^\1/gm, '')
    .split(/\n{2,}/)
    .map((block) => block.trim());
  // A paragraph ends like a sentence. Lists, tables, headings and HTML don't begin like one.
  const paragraph = blocks.find((block) => /^[\w*`[“"].*[.:!?]\**$/s.test(block) && !/^\[.*\) ·/.test(block)) ?? '';
  const text = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ');
  let description = '';
  for (const sentence of text.match(/.+?[.:!?](?= |$)/g) ?? []) {
    if (description !== '' && description.length + sentence.length > longest) break;
    description += sentence;
  }
  return description.trim();
}
