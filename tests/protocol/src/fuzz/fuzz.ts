import { inChildren } from '../children.ts';
import { targets } from './targets.ts';
import type { Fuzzed, FuzzTask } from './worker.ts';

const worker = new URL('worker.ts', import.meta.url);
const atOnce = 5_000;

/** Tries `runs` inputs for each target whose name contains `only`, on all processors. Each 5,000 have a seed of their own, from `seed` on. */
export async function fuzz(runs: number, seed: number, only = ''): Promise<ReadonlyMap<string, Fuzzed>> {
  const names = Object.keys(targets).filter((name) => name.includes(only));
  const tasks = names.flatMap((name) =>
    Array.from({ length: Math.ceil(runs / atOnce) }, (_, part): FuzzTask => {
      return { name, seed: seed + part, runs: Math.min(atOnce, runs - part * atOnce) };
    }),
  );
  const results = new Map<string, Fuzzed>();
  await inChildren(worker, tasks, (fuzzed: Fuzzed, { name }) => {
    const { runs, failures, maxMegabytes } = results.get(name) ?? { runs: 0, failures: [], maxMegabytes: 0 };
    results.set(name, {
      runs: runs + fuzzed.runs,
      failures: [...failures, ...fuzzed.failures],
      maxMegabytes: Math.max(maxMegabytes, fuzzed.maxMegabytes),
    });
  });
  return results;
}
