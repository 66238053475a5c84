import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { promises } from '../src/judge/promises.ts';

test('the judge tries the promises of docs/reliability.md, by their numbers and names there', () => {
  const page = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/^(\d+)\. \*\*(.+)\.\*\*/gm)].map(([, number, name]) => `${number}. ${name}`);
  expect(named).toEqual(Object.keys(promises));
});
