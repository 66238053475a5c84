import type { Random } from '../../../tests/protocol/src/random.ts';
import type { World } from '../../../tests/protocol/src/world.ts';
import type { Fleet } from './fleet.ts';
import type { Incident, IncidentKind, Settings } from './settings.ts';

/** The incidents of a day, which happen to all its fleets alike. */
export interface Incidents {
  /** Lets the time go on up to `time`, in milliseconds since midnight, and happen what is planned. */
  runUntil(time: number): Promise<void>;
  /** Plans one more, at a later second of the day. */
  add(incident: Incident): void;
  readonly happened: readonly Incident[];
}

/** What an incident changes outside of the fleets, and changes back. */
export interface Surroundings {
  /** The API answers 401 to every token. */
  rejectAll(on: boolean): void;
  /** The token endpoint takes long. */
  slowDown(on: boolean): void;
  /** The store is gone. */
  failOver(on: boolean): void;
}

const second = 1_000;

/** Plans what the settings say, and what their seed chooses. */
export function planIncidents(
  world: World,
  random: Random,
  settings: Settings,
  fleets: readonly Pick<Fleet, 'deploy' | 'crash'>[],
  { rejectAll, slowDown, failOver }: Surroundings,
): Incidents {
  const crashed = random.fork('crashed');
  const during = (change: (on: boolean) => void, durationMs: number) => () => {
    change(true);
    world.at(world.now + durationMs, () => change(false));
  };
  const acts: Record<IncidentKind, () => void> = {
    deploy() {
      for (const fleet of fleets) fleet.deploy();
    },
    crash() {
      const index = crashed.integer(0, settings.processes - 1);
      for (const fleet of fleets) fleet.crash(index);
    },
    storm: during(rejectAll, 20 * 60 * second),
    slow: during(slowDown, 30 * 60 * second),
    failover: during(failOver, 45 * second),
  };
  let pending = planOf(settings, random.fork('plan'));
  const happened: Incident[] = [];
  return {
    async runUntil(time) {
      for (let next = pending[0]; next && next.atSecond * second <= time; next = pending[0]) {
        pending = pending.slice(1);
        await world.runUntil(next.atSecond * second);
        happened.push(next);
        acts[next.kind]();
      }
      await world.runUntil(time);
    },
    add(incident) {
      pending = [...pending, incident].sort(earlierFirst);
    },
    happened,
  };
}

function planOf({ deploys, crashes, incidents }: Settings, random: Random): Incident[] {
  const chosen = (count: number, kind: IncidentKind, [from, to]: readonly [number, number]): Incident[] =>
    Array.from({ length: count }, () => ({ kind, atSecond: random.integer(from * 3_600, to * 3_600 - 1) }));
  const plan = [...incidents, ...chosen(deploys, 'deploy', [8, 18]), ...chosen(crashes, 'crash', [0, 24])];
  return plan.sort(earlierFirst);
}

function earlierFirst(a: Incident, b: Incident): number {
  return a.atSecond - b.atSecond;
}
