import { inChildren } from '../children.ts';
import type { Caught } from './hunt.ts';
import type { Mutant } from './mutant.ts';
import type { Row } from './table.ts';
import type { MutantTask } from './worker.ts';

const worker = new URL('worker.ts', import.meta.url);

/** Looks for a seed that catches each mutant, on all processors. */
export async function huntAll(seeds: number, chosen: readonly Mutant[], found: (row: Row) => void): Promise<Row[]> {
  return tried(
    chosen.map((mutant) => ({ mutant, caught: undefined })),
    seeds,
    found,
  );
}

/** Runs the seed of each row again. Returns the rows of those that were not caught this time. */
export async function escaped(rows: readonly Row[]): Promise<Row[]> {
  const again = await tried(
    rows.filter(({ caught }) => caught !== undefined),
    0,
    () => {},
  );
  return again.filter(({ caught }) => caught === undefined);
}

async function tried(rows: readonly Row[], seeds: number, found: (row: Row) => void): Promise<Row[]> {
  const tasks = rows.map(({ mutant, caught }): MutantTask => ({ name: mutant.name, seeds, caught }));
  const results = new Map<string, Caught | undefined>();
  await inChildren(worker, tasks, (caught: Caught | undefined, { name }) => {
    results.set(name, caught);
    for (const { mutant } of rows) if (mutant.name === name) found({ mutant, caught });
  });
  return rows.map(({ mutant }) => ({ mutant, caught: results.get(mutant.name) }));
}
