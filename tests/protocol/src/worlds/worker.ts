import { serve } from '../children.ts';
import type { CreateServiceAuth } from '../parts.ts';
import { wrongClients } from '../wrong-clients.ts';
import type { Figures } from './outage-world.ts';
import { outageWorlds } from './outage-worlds.ts';
import { rejectionWorlds, runRejections } from './rejection-worlds.ts';
import { runWorld } from './run-world.ts';
import { waitWorlds } from './waits.ts';

export interface WorldTask {
  readonly name: string;
  readonly seed: number;
  /** The module with the `createServiceAuth` to try. */
  readonly core: string;
  /** The name of a wrong client. Undefined: the core as it is. */
  readonly wrong?: string | undefined;
}

serve(async ({ name, seed, core, wrong = '' }: WorldTask): Promise<Figures> => {
  const { createServiceAuth } = (await import(core)) as { createServiceAuth: CreateServiceAuth };
  const tried = wrongClients[wrong]?.change(createServiceAuth) ?? createServiceAuth;
  const outage = [...outageWorlds, ...waitWorlds].find((world) => world.name === name);
  if (outage) return runWorld(outage, seed, tried);
  const rejection = rejectionWorlds.find((world) => world.name === name);
  if (rejection) return runRejections(rejection, seed, tried);
  throw new Error(`There is no world ${name}.`);
});
