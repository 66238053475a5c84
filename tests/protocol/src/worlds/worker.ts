import { serve } from '../children.ts';
import { loadMutant, mutants } from '../mutants/load.ts';
import type { CreateServiceAuth } from '../run.ts';
import type { Figures } from './outage-watch.ts';
import { outageWorlds } from './outage-worlds.ts';
import { runWorld } from './run-world.ts';

/** A world and a seed of it. */
export interface WorldTask {
  readonly name: string;
  readonly seed: number;
  /** The module with the `createServiceAuth` to try, or the name of a mutant of this repository's core. */
  readonly core: string;
}

serve(async ({ name, seed, core }: WorldTask): Promise<Figures> => {
  const world = outageWorlds.find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world ${name}.`);
  const mutant = mutants.find((candidate) => candidate.name === core);
  if (mutant) return runWorld(world, seed, await loadMutant(mutant));
  const { createServiceAuth } = (await import(core)) as { createServiceAuth: CreateServiceAuth };
  return runWorld(world, seed, createServiceAuth);
});
