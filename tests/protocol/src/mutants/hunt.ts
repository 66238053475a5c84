import { createServiceAuth } from '@service-auth/core';
import { run } from '../run.ts';
import { scenarios } from '../scenarios/scenarios.ts';
import { promiseOf } from '../shrink.ts';
import { failsWith } from './fails-with.ts';
import { loadMutant } from './load.ts';
import type { Mutant } from './mutant.ts';

/** The seed that catches a mutant, and the promise that it breaks; or the test or the scenario. */
export type Caught =
  | { readonly mode: string; readonly seed: number; readonly promise: string }
  | { readonly test: string }
  | { readonly scenario: string };

/** Where something else notices, so many seeds are enough to see that a seed does. */
const fewSeeds = 100;

/** Looks for the first of `seeds` seeds that catches a mutant and passes with the right code, and otherwise for the test or the scenario that does. */
export async function hunt(mutant: Mutant, seeds: number): Promise<Caught | undefined> {
  const { modes, test, scenario } = mutant;
  const mutated = await loadMutant(mutant);
  for (const mode of modes) {
    for (let seed = 1; seed <= (test || scenario ? Math.min(seeds, fewSeeds) : seeds); seed++) {
      const [violation] = (await run({ mode, seed }, mutated)).violations;
      if (violation === undefined) continue;
      const { violations } = await run({ mode, seed }, createServiceAuth);
      if (violations.length === 0) return { mode, seed, promise: promiseOf(violation) };
    }
  }
  if (test !== undefined && (await catches({ test }, mutant))) return { test };
  if (scenario !== undefined && (await catches({ scenario }, mutant))) return { scenario };
  return undefined;
}

/** True if this seed, test or scenario still catches the mutant. */
export async function catches(caught: Caught, mutant: Mutant): Promise<boolean> {
  if ('test' in caught) return failsWith(mutant, caught.test);
  const mutated = await loadMutant(mutant);
  if ('scenario' in caught) return (await scenarios[caught.scenario]?.(mutated)) !== undefined;
  const { mode, seed, promise } = caught;
  const { violations } = await run({ mode, seed }, mutated);
  return violations.some((violation) => promiseOf(violation) === promise);
}
