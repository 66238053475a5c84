/**
 * pnpm mutants                      looks for the first seed, or the test, that catches each mutant, and writes docs/evidence/mutants.md
 * pnpm mutants --only lease         ... of some of them
 * pnpm mutants --stale              ... of those that nothing catches any more, after a change of core
 * pnpm mutants --check              tries each mutant with the seed, test or scenario that the document names
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { mutants } from './src/mutants/load.ts';
import { document, isSearched, type Row, readTable, render } from './src/mutants/table.ts';
import { escaped, huntAll } from './src/mutants/tribunal.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
    stale: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});

if (values.check) {
  for (const { mutant } of await escaped(readTable())) fail(`${mutant.name}: not caught by its seed any more`);
} else {
  const known = readTable();
  const isStale = ({ mutant, caught }: Row) => caught === undefined && !isSearched(mutant);
  const stale = values.stale
    ? new Set([...known.filter(isStale), ...(await escaped(known))].map(({ mutant }) => mutant))
    : undefined;
  const chosen = mutants.filter((mutant) => mutant.name.includes(values.only) && (stale?.has(mutant) ?? true));
  const rows = await huntAll(Number(values.seeds), chosen, report);
  for (const { mutant, caught } of rows) if (!caught && !isSearched(mutant)) fail(`${mutant.name}: not caught`);
  const found = new Map(rows.map((row) => [row.mutant.name, row]));
  writeFileSync(document, render(readTable().map((row) => found.get(row.mutant.name) ?? row)));
}

function report({ mutant: { name }, caught }: Row): void {
  console.log(`${name}: ${caught ? Object.values(caught).join(' ') : 'not caught'}`);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
