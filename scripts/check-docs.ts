// Every TypeScript block of every document compiles against the sources. Every relative link leads to a file, and its anchor to a heading.
//
// A block is a module of its own. ```ts continued   goes on where the block before it in the same document ended;
// ```ts no-check: reason   is left out; ```ts [axios]   is a tab of that name.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { codeEntries, readPackages, root, sourceCondition } from '../tests/support/tools/packages/packages.ts';
import { headingAnchor, readDocuments } from './documents.ts';

const cache = 'node_modules/.cache/docs';
const packages = readPackages();
const documents = readDocuments();

const anchorsOf = new Map(documents.map(({ path, lines }) => [join(root, path), anchors(lines)]));
const problems: string[] = documents.flatMap(({ path, lines }) => brokenLinks(path, lines));
const modules = new Map<string, string>();

for (const { path, lines } of documents) collectBlocks(path, lines);
compileBlocks();

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${documents.length} documents: ${modules.size} TypeScript blocks compile, and all links resolve.`);

/** Each block keeps its line numbers, so that what the compiler says points into the document. */
function collectBlocks(document: string, lines: string[]): void {
  let current: { file: string; code: string[] } | undefined;
  let open: { fence: string; checked: boolean } | undefined;
  for (const [index, line] of lines.entries()) {
    const fence = /^\s*(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (open) {
      if (fence?.[1] === open.fence && fence[2] === '') open = undefined;
      else if (open.checked) current?.code.splice(index, 1, line);
      if (current) modules.set(current.file, current.code.join('\n'));
    } else if (fence) {
      const [language = '', ...words] = (fence[2] ?? '').split(/\s+/);
      const mark = words.join(' ');
      const typescript = language === 'ts' || language === 'typescript';
      if (typescript && !['', 'continued'].includes(mark) && !/^(no-check: \S.*|\[[^\]]+\])$/.test(mark)) {
        problems.push(
          `${document}:${index + 1}: "${mark}" is not a mark of a block. Write "continued", "no-check: reason" or "[tab]".`,
        );
      }
      open = { fence: fence[1] ?? '', checked: typescript && !mark.startsWith('no-check') };
      if (open.checked && (mark !== 'continued' || !current)) {
        current = { file: moduleFor(document, index + 1), code: Array.from(lines, () => '') };
      }
    }
  }
}

/** Beside the dependencies of what the document describes: those of its package, else those of the examples. */
function moduleFor(document: string, line: number): string {
  const owner = /^packages\/[^/]+/.exec(document)?.[0] ?? 'examples';
  return join(owner, cache, `${document.replaceAll('/', '__')}.${line}.mts`);
}

function compileBlocks(): void {
  for (const folder of new Set([root, join(root, 'examples'), ...packages.map(({ folder }) => folder)])) {
    rmSync(join(folder, cache), { recursive: true, force: true });
  }
  for (const [file, code] of modules) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), `${code}\nexport {};\n`);
  }
  const sources = packages.flatMap(({ name, manifest }) =>
    codeEntries(manifest).map(([path, entry]) => [
      manifest.name + path.slice(1),
      [join(root, 'packages', name, entry[sourceCondition] ?? '')],
    ]),
  );
  const project = join(root, cache, 'tsconfig.json');
  mkdirSync(dirname(project), { recursive: true });
  const compilerOptions = {
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: Object.fromEntries(sources),
    // A reader's block shows one thing. It compiles under all options that judge types, and the sources are stricter in style alone.
    erasableSyntaxOnly: false,
    noPropertyAccessFromIndexSignature: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    isolatedDeclarations: false,
    declaration: false,
  };
  const files = [...modules.keys()].map((file) => join(root, file));
  writeFileSync(project, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files }));
  if (files.length === 0) {
    problems.push('No document has a TypeScript block: nothing was checked.');
    return;
  }

  const { status, stdout, stderr, error } = spawnSync('tsc', ['--project', project, '--pretty', 'false'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) return;
  const inDocument = /^\S*?node_modules\/\.cache\/docs\/(\S+)\.\d+\.mts\((\d+),(\d+)\)/;
  // Sources have stricter options of their own, and a check of their own. Whatever else the compiler says may keep it from the documents.
  const inSource = /^packages\/[^/]+\/src\//;
  const messages = `${stdout ?? ''}${stderr ?? ''}`.split(/\n(?=\S)/).filter((message) => !inSource.test(message));
  const placed = messages.map((message) =>
    message.trimEnd().replace(inDocument, (_, file, line, column) => `${file.replaceAll('__', '/')}:${line}:${column}`),
  );
  problems.push(...placed.filter((message) => message !== ''));
  if (error || status === null || stdout === '') problems.push(`tsc could not be run: ${error?.message ?? status}`);
}

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
  if (anchor && anchorsOf.get(shown)?.has(anchor) === false) return 'names a heading that is not there';
  return undefined;
}

/** The anchors that GitHub gives to headings. */
function anchors(lines: string[]): Set<string> {
  const found = new Set<string>();
  for (const line of withoutFences(lines)) {
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
