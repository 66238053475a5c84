import { cpuUsage } from 'node:process';
import { measure } from 'mitata';
import type { Rounds } from './statistics.ts';

/** What is timed, and the name it has in the table. */
export interface Contender {
  readonly name: string;
  /** Its promise, if it returns one, is awaited. */
  run(): unknown;
}

/** How long to compare. */
export interface ComparisonOptions {
  readonly rounds: number;
  /** How long each contender runs in each round. */
  readonly sliceMs: number;
  /** Calls between two looks at the clock. Default 1,024. */
  readonly batch?: number;
  /** Calls under way at the same time. Default 1. */
  readonly concurrency?: number;
  /** Also take the processor time, for calls of many microseconds: counting them takes some nanoseconds. Default false. */
  readonly processorTime?: boolean;
}

/** Of each contender, one figure per round. */
export interface Comparison {
  /** Nanoseconds per call. */
  readonly times: Rounds;
  /** Microseconds of processor time per call, of all threads of this process: what other processes disturb least. Empty unless asked for. */
  readonly processor: Rounds;
}

/**
 * Times contenders against each other. In every round each contender runs for a moment, in an order drawn anew, so that a noisy moment hits whom it
 * may. The first round, in which everything is compiled, does not count.
 */
export async function compare(contenders: readonly Contender[], options: ComparisonOptions): Promise<Comparison> {
  const { rounds, sliceMs, batch = 1_024, concurrency = 1, processorTime = false } = options;
  const random = seededRandom(rounds);
  const empty = (): Record<string, number[]> => Object.fromEntries(contenders.map(({ name }) => [name, []]));
  const [times, processor] = [empty(), empty()];
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, run } of shuffled(contenders, random)) {
      let calls = 0;
      const counted = () => {
        calls += 1;
        return run();
      };
      const before = cpuUsage();
      // mitata takes a sample of `batch` calls at once, unless one call takes longer than 65 µs.
      const { p50 } = await measure((processorTime ? counted : run) as () => void, {
        gc: false,
        concurrency,
        min_cpu_time: sliceMs * 1e6,
        min_samples: 3,
        batch_samples: batch,
      });
      const { user, system } = cpuUsage(before);
      if (round === 0) continue;
      times[name]?.push(p50);
      if (processorTime) processor[name]?.push((user + system) / calls);
    }
  }
  return { times, processor };
}

/** Numbers from 0 to 1, the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
