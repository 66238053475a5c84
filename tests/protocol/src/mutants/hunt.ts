import { createServiceAuth } from '@service-auth/core';
import { run } from '../run.ts';
import { promiseOf } from '../shrink.ts';
import { loadMutant } from './load.ts';
import type { Mutant } from './mutant.ts';

/** The seed that catches a mutant, and the promise that it breaks. */
export interface Caught {
  readonly mode: string;
  readonly seed: number;
  readonly promise: string;
}

/** Looks for the first of `seeds` seeds that catches a mutant and passes with the right code. */
export async function hunt(mutant: Mutant, seeds: number): Promise<Caught | undefined> {
  const mutated = await loadMutant(mutant);
  // Enough to notice that it is noticed after all.
  const most = mutant.survives === undefined ? seeds : Math.min(seeds, 100);
  for (const mode of mutant.modes) {
    for (let seed = 1; seed <= most; seed++) {
      const [violation] = (await run({ mode, seed }, mutated)).violations;
      if (violation === undefined) continue;
      const { violations } = await run({ mode, seed }, createServiceAuth);
      if (violations.length === 0) return { mode, seed, promise: promiseOf(violation) };
    }
  }
  return undefined;
}

/** True if this seed still catches the mutant. */
export async function catches({ mode, seed, promise }: Caught, mutant: Mutant): Promise<boolean> {
  const { violations } = await run({ mode, seed }, await loadMutant(mutant));
  return violations.some((violation) => promiseOf(violation) === promise);
}
