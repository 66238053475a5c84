import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawings } from '../drawings/drawings.ts';

test.each([...drawings()])('the picture %s is what `pnpm site:drawings` draws', (file, svg) => {
  expect(readFileSync(new URL(`../drawings/${file}`, import.meta.url), 'utf8')).toBe(svg);
});
