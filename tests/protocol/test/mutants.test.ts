import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants, textsOf } from '../src/mutants/load.ts';
import { document, readTable, render } from '../src/mutants/table.ts';
import { escaped } from '../src/mutants/tribunal.ts';

// After a change of core: adapt the passages, run `pnpm mutants`, and read the table that it writes.

test.each(mutants)('$name: the passage occurs once in core', (mutant) => {
  expect(() => textsOf(mutant)).not.toThrow();
});

test('the document says what the mutants say', () => {
  expect(readFileSync(document, 'utf8')).toBe(render(readTable()));
});

test('the mutants are caught by the seeds that docs/evidence/mutants.md names', { timeout: 900_000 }, async () => {
  const rows = readTable();
  const uncaught = rows.filter(({ mutant, caught }) => !caught && !mutant.survives).map(({ mutant }) => mutant.name);
  expect(uncaught).toEqual([]);
  expect(rows.filter(({ caught }) => caught).length).toBeGreaterThanOrEqual(50);
  expect((await escaped(rows)).map(({ mutant }) => mutant.name)).toEqual([]);
});
