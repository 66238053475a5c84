import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { type Answer, atMost, type Scope, spreadText } from '../harness/answer.ts';
import { spreadOf } from '../harness/statistics.ts';
import { measureLocalStores, openLocalStores } from '../scenarios/local-stores.ts';

const batches = 5;
const operations = ['load', 'swap'] as const;
type Operation = (typeof operations)[number];

/** The stores for one machine, on its disk. Each swap waits for the disk. */
export default async function localStores({ quick }: Scope): Promise<Answer> {
  const stores = await openLocalStores(temporaryFolder(join(tmpdir(), 'service-auth-bench-')));
  const size = quick ? 20 : 200;
  // The first ones create files and compile statements.
  const times = await measureLocalStores(stores, size * (batches + 1));
  const [base] = Object.keys(times);
  const mediansOf = (name = '', operation: Operation) =>
    Array.from({ length: batches }, (_, batch) => {
      const all = times[name]?.[operation] ?? [];
      return spreadOf(all.slice((batch + 1) * size, (batch + 2) * size)).median;
    });
  const ratiosOf = (name: string, operation: Operation) => {
    const medians = mediansOf(base, operation);
    return mediansOf(name, operation).map((median, batch) => median / (medians[batch] ?? Number.NaN));
  };
  const cellsOf = (measure: typeof ratiosOf, name: string) =>
    operations.map((operation) => spreadText(spreadOf(measure(name, operation))));
  return {
    tables: [
      {
        title: 'time of an operation',
        columns: ['load, ms', 'swap, ms', 'load, fileStore() = 1', 'swap, fileStore() = 1'],
        rows: Object.keys(times).map((name) => ({
          name,
          kind: 'ours',
          cells: [...cellsOf(mediansOf, name), ...cellsOf(ratiosOf, name)],
        })),
      },
    ],
    goals: operations.map((operation) => {
      const name = 'sqliteStore() on node:sqlite, journal_mode wal';
      return atMost(`a ${operation} of ${name}, fileStore() = 1`, 1, spreadOf(ratiosOf(name, operation)));
    }),
  };
}
