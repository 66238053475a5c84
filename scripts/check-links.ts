// Every relative link of every document leads to a file, and its anchor to a heading.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { readDocuments } from './documents.ts';
import { headingAnchor } from './heading-anchor.ts';
import { root } from './packages.ts';

const anchorsOf = memoize((file: string) => anchors(readFileSync(file, 'utf8')));
const documents = readDocuments();
const problems = documents.flatMap(({ path, lines }) => brokenLinks(path, lines));

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`The links of ${documents.length} documents resolve.`);

function brokenLinks(document: string, lines: string[]): string[] {
  const broken: string[] = [];
  for (const [index, line] of withoutCode(lines).entries()) {
    const targets = [
      ...line.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g),
      ...line.matchAll(/\b(?:href|src)="([^"]+)"/g),
      ...line.matchAll(/^\[[^\]]+\]:\s*(\S+)/g),
    ];
    for (const [, target = ''] of targets) {
      const reason = brokenBecause(document, target);
      if (reason) broken.push(`${document}:${index + 1}: the link ${target} ${reason}.`);
    }
  }
  return broken;
}

function brokenBecause(document: string, target: string): string | undefined {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, document) : resolve(root, dirname(document), decodeURIComponent(path));
  if (relative(root, file).startsWith('..')) return 'leaves the repository';
  if (!existsSync(file)) return 'leads nowhere';
  // GitHub shows the README of a folder.
  const shown = statSync(file).isDirectory() ? join(file, 'README.md') : file;
  if (anchor && existsSync(shown) && shown.endsWith('.md') && !anchorsOf(shown).has(anchor))
    return 'names a heading that is not there';
  return undefined;
}

/** The anchors that GitHub gives to headings. */
function anchors(markdown: string): Set<string> {
  const found = new Set<string>();
  for (const line of withoutFences(markdown.split('\n'))) {
    for (const [, id = ''] of line.matchAll(/\b(?:id|name)="([^"]+)"/g)) found.add(id);
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/<[^>]+>/g, '');
    const slug = headingAnchor(text);
    let unique = slug;
    for (let again = 1; found.has(unique); again += 1) unique = `${slug}-${again}`;
    found.add(unique);
  }
  return found;
}

function withoutFences(lines: string[]): string[] {
  let fence: string | undefined;
  return lines.map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) {
      if (mark === fence) fence = undefined;
      return '';
    }
    fence = mark;
    return mark ? '' : line;
  });
}

function withoutCode(lines: string[]): string[] {
  return withoutFences(lines).map((line) => line.replace(/(`+).*?\1/g, ''));
}

function memoize<Value>(compute: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
