import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tests/support/tools/packages/packages.ts';

export interface Document {
  /** From the root: `packages/axios/README.md`. */
  readonly path: string;
  readonly lines: string[];
}

export function readDocuments(): Document[] {
  const written = ['*.md', '{docs,examples,bench,tests}/**/*.md', 'packages/*/README.md'];
  const paths = globSync(written, { cwd: root, exclude: (path) => path.includes('node_modules') });
  return paths.sort().map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n') }));
}

/** Returns the anchor that GitHub gives to the text of a heading. */
export function headingAnchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}
