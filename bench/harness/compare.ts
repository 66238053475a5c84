import { cpuUsage } from 'node:process';
import { measure } from 'mitata';
import { createRandom } from '../../tests/protocol/src/random.ts';
import type { Rounds } from './statistics.ts';

/** A measured function, and its name in the table. */
export interface Contender {
  readonly name: string;
  /** Its promise, if it returns one, is awaited. */
  run(): unknown;
}

/** The duration of the comparison. */
export interface ComparisonOptions {
  readonly rounds: number;
  /** The time that each contender runs in each round. */
  readonly sliceMs: number;
  /** The number of sequential calls between two reads of the clock. Default 1,024. */
  readonly batch?: number;
  /** The number of concurrent calls in a group. There is one group between two reads of the clock. Default 1. */
  readonly concurrency?: number;
  /**
   * What is read before and after a batch. `processor`: what all threads of this process used, whatever else the machine does; reading
   * it takes microseconds. Default `time`.
   */
  readonly clock?: 'time' | 'processor';
}

const clocks = {
  time: () => performance.now() * 1e6,
  processor: () => {
    const { user, system } = cpuUsage();
    return (user + system) * 1e3;
  },
};

/** Calls after which everything is compiled as well as it will be. */
const callsToWarmUp = 10_000;

/**
 * Nanoseconds per call. In every round each contender runs for a moment, in an order drawn anew, so that a noisy moment hits whom it
 * may. The first round, in which code is compiled, does not count.
 */
export async function compare(contenders: readonly Contender[], options: ComparisonOptions): Promise<Rounds> {
  const { rounds, sliceMs, batch = 1_024, concurrency = 1, clock = 'time' } = options;
  const { next } = createRandom(`${rounds} rounds`);
  const results: Record<string, number[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, run } of shuffled(contenders, next)) {
      const { p50 } = await measure(run as () => void, {
        now: clocks[clock],
        gc: false,
        concurrency,
        min_cpu_time: sliceMs * 1e6,
        min_samples: round === 0 ? Math.ceil(callsToWarmUp / (concurrency > 1 ? concurrency : batch)) : 3,
        batch_samples: batch,
        // Else it batches or not by how long the first calls happen to take.
        warmup_threshold: Number.POSITIVE_INFINITY,
        batch_threshold: concurrency > 1 ? -1 : Number.POSITIVE_INFINITY,
      });
      if (round > 0) results[name]?.push(p50);
    }
  }
  return results;
}

/** Items in a random order. */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
