import { serve } from '../children.ts';
import type { CreateServiceAuth } from '../run.ts';
import { wrongClients } from '../wrong-clients.ts';
import type { Figures } from './outage-watch.ts';
import { outageWorlds } from './outage-worlds.ts';
import { runWorld } from './run-world.ts';
import { waitWorlds } from './waits.ts';

/** A world and a seed of it. */
export interface WorldTask {
  readonly name: string;
  readonly seed: number;
  /** The module with the `createServiceAuth` to try. */
  readonly core: string;
  /** The name of a wrong client. Undefined: the core as it is. */
  readonly wrong?: string | undefined;
}

serve(async ({ name, seed, core, wrong = '' }: WorldTask): Promise<Figures> => {
  const world = [...outageWorlds, ...waitWorlds].find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world ${name}.`);
  const { createServiceAuth } = (await import(core)) as { createServiceAuth: CreateServiceAuth };
  return runWorld(world, seed, wrongClients[wrong]?.change(createServiceAuth) ?? createServiceAuth);
});
