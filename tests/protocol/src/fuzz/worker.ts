import fc from 'fast-check';
import { serve } from '../children.ts';
import { targets } from './targets.ts';

/** So many inputs for a target. */
export interface FuzzTask {
  readonly name: string;
  readonly seed: number;
  readonly runs: number;
}

/** What came of the inputs for a target. No failure: every property was true. */
export interface Fuzzed {
  readonly runs: number;
  readonly failures: readonly string[];
  readonly maxMegabytes: number;
}

serve(async ({ name, seed, runs }: FuzzTask): Promise<Fuzzed> => {
  const details = await targets[name]?.({ seed, numRuns: runs });
  const { failed, errorInstance, counterexample } = details ?? {};
  const failures = failed ? [`seed ${seed}: ${errorInstance}\n${fc.stringify(counterexample)}`] : [];
  return { runs: details?.numRuns ?? 0, failures, maxMegabytes: process.resourceUsage().maxRSS / 1_024 };
});
