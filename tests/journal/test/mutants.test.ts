import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from '../mutants/mutants.ts';

// `node tests/journal/mutants.ts` looks for a test that catches each of them.
test.each(mutants)('$about: the passage occurs once', ({ file, find, replace }) => {
  const source = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
