import type { ServiceAuth, ServiceAuthOptions } from '@service-auth/core';
import type { Dice } from './faults.ts';
import type { Judge } from './judge/judge.ts';
import type { Random } from './random.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** The code under test: core's, or a wrong client's. */
export type CreateServiceAuth = (options: ServiceAuthOptions) => ServiceAuth;

/** What the parts of a run have in common. */
export interface Run {
  readonly random: Random;
  readonly settings: Settings;
  readonly world: World;
  readonly dice: Dice;
  readonly judge: Judge;
  readonly store: SimulatedStore;
  readonly service: Service;
  readonly createServiceAuth: CreateServiceAuth;
}
