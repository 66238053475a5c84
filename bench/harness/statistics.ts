/** The middle of several measurements, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const half = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(half)) + at(Math.ceil(half))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

/** One figure per round and contender. */
export type Rounds = Readonly<Record<string, readonly number[]>>;

/**
 * A contender in relation to another one, round by round: what slowed the machine for a moment slowed both. `runs`: one for each process;
 * the least and the most are those of the processes, or, if there is only one, of its rounds.
 */
export function ratioOf(runs: readonly Rounds[], contender: string, base: string): Spread {
  const ratios = runs.map((rounds) => {
    const values = rounds[contender] ?? [];
    return values.map((value, round) => value / (rounds[base]?.[round] ?? Number.NaN));
  });
  const all = spreadOf(ratios.flat());
  if (ratios.length === 1) return all;
  const { min, max } = spreadOf(ratios.map((values) => spreadOf(values).median));
  return { median: all.median, min, max };
}
