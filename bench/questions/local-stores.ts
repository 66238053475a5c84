import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type Scope, spreadText } from '../harness/answer.ts';
import { spreadOf } from '../harness/statistics.ts';
import { measureLocalStores, openLocalStores } from '../scenarios/local-stores.ts';

const batches = 5;

/** The stores for one machine, on its disk. Each swap waits for the disk. */
export default async function localStores({ quick }: Scope): Promise<Answer> {
  const directory = mkdtempSync(join(tmpdir(), 'service-auth-bench-'));
  try {
    const stores = await openLocalStores(directory);
    const size = quick ? 20 : 200;
    // The first ones create files and compile statements.
    const times = await measureLocalStores(stores, size * (batches + 1));
    const [base] = Object.values(times);
    const ratios = (name: string, operation: 'load' | 'swap') =>
      Array.from({ length: batches }, (_, batch) => {
        const medianOf = (all: readonly number[] = []) =>
          spreadOf(all.slice((batch + 1) * size, (batch + 2) * size)).median;
        return medianOf(times[name]?.[operation]) / medianOf(base?.[operation]);
      });
    return {
      tables: [
        {
          title: 'time of an operation, fileStore() = 1',
          columns: ['load', 'swap'],
          rows: Object.keys(times).map((name) => ({
            name,
            kind: 'ours',
            cells: (['load', 'swap'] as const).map((operation) => spreadText(spreadOf(ratios(name, operation)))),
          })),
        },
      ],
      charts: [],
      goals: [],
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
