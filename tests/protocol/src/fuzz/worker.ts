import fc from 'fast-check';
import { serve } from '../children.ts';
import { targets } from './targets.ts';

/** So many inputs for a target. */
export interface FuzzTask {
  readonly name: string;
  readonly seed: number;
  readonly runs: number;
}

export interface Fuzzed {
  readonly runs: number;
  /** Undefined if every property was true. */
  readonly failure: string | undefined;
  readonly maxMegabytes: number;
}

serve(async ({ name, seed, runs }: FuzzTask): Promise<Fuzzed> => {
  const details = await targets[name]?.({ seed, numRuns: runs });
  const failure = details?.failed
    ? `seed ${seed}: ${details.errorInstance}\n${fc.stringify(details.counterexample)}`
    : undefined;
  return { runs: details?.numRuns ?? 0, failure, maxMegabytes: process.resourceUsage().maxRSS / 1_024 };
});
