import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants, textsOf } from '../src/mutants/load.ts';
import { document, isSearched, readTable, render } from '../src/mutants/table.ts';
import { escaped } from '../src/mutants/tribunal.ts';

// After a change of core: adapt the passages, run `pnpm mutants`, and read the table that it writes.

test.each(mutants)('$name: the passage occurs once in core', (mutant) => {
  expect(() => textsOf(mutant)).not.toThrow();
});

test('the document says what the mutants say', () => {
  expect(readFileSync(document, 'utf8')).toBe(render(readTable()));
});

test('the mutants are caught by what docs/evidence/mutants.md names', { timeout: 1_200_000 }, async () => {
  const rows = readTable();
  const uncaught = rows.filter(({ mutant, caught }) => !caught && !isSearched(mutant)).map(({ mutant }) => mutant.name);
  expect(uncaught).toEqual([]);
  expect(rows.filter(({ caught }) => caught && 'seed' in caught).length).toBeGreaterThanOrEqual(50);
  expect((await escaped(rows)).map(({ mutant }) => mutant.name)).toEqual([]);
});
