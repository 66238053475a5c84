import { serve } from '../children.ts';
import type { CreateServiceAuth } from '../run.ts';
import { type RejectionFigures, rejectionWorlds, runRejections } from './rejection-worlds.ts';
import type { WorldTask } from './worker.ts';

serve(async ({ name, seed, core }: WorldTask): Promise<RejectionFigures> => {
  const world = rejectionWorlds.find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world ${name}.`);
  const { createServiceAuth } = (await import(core)) as { createServiceAuth: CreateServiceAuth };
  return runRejections(world, seed, createServiceAuth);
});
