import { inChildren } from '../children.ts';
import { targets } from './targets.ts';
import type { Fuzzed, FuzzTask } from './worker.ts';

/** The result of one target. */
interface Result {
  readonly runs: number;
  readonly failures: readonly string[];
  readonly maxMegabytes: number;
}

const worker = new URL('worker.ts', import.meta.url);
const atOnce = 5_000;

/** Tries `runs` inputs for each target whose name contains `only`, on all processors. Each 5,000 have a seed of their own, from `seed` on. */
export async function fuzz(runs: number, seed: number, only = ''): Promise<ReadonlyMap<string, Result>> {
  const names = Object.keys(targets).filter((name) => name.includes(only));
  const tasks = names.flatMap((name) =>
    Array.from({ length: Math.ceil(runs / atOnce) }, (_, part): FuzzTask => {
      return { name, seed: seed + part, runs: Math.min(atOnce, runs - part * atOnce) };
    }),
  );
  const results = new Map<string, Result>();
  await inChildren(worker, tasks, ({ runs, failure, maxMegabytes }: Fuzzed, { name }) => {
    const before = results.get(name);
    results.set(name, {
      runs: runs + (before?.runs ?? 0),
      failures: [...(before?.failures ?? []), ...(failure === undefined ? [] : [failure])],
      maxMegabytes: Math.max(maxMegabytes, before?.maxMegabytes ?? 0),
    });
  });
  return results;
}
