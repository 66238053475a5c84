import type { Surroundings } from './client.ts';
import type { Fleet } from './fleet.ts';
import type { Network } from './network.ts';
import type { Settings } from './settings.ts';
import type { World } from './world.ts';

/** The endpoint gets into this state, and stays in it until faults end. */
export function scheduleOutage(
  { fromMs, state }: NonNullable<Settings['outage']>,
  world: World,
  network: Network,
): void {
  world.at(fromMs, () => {
    network.broken.endpoint = state;
  });
}

/** Processes begin one after another, ask for a token, and are killed. */
export function scheduleDeaths(
  { fromMs, everyMs, livesMs }: NonNullable<Settings['dying']>,
  untilMs: number,
  fleet: Fleet,
  { world }: Surroundings,
): void {
  const next = () => {
    fleet.startMortal(livesMs);
    if (world.now + everyMs < untilMs) world.at(world.now + everyMs, next);
  };
  world.at(fromMs, next);
}
