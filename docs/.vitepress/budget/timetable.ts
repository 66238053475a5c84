import { createRandom } from '../../../tests/protocol/src/random.ts';
import { createWorld } from '../../../tests/protocol/src/world.ts';
import { createFleet } from './fleet.ts';
import { planIncidents } from './incidents.ts';
import type { Settings } from './settings.ts';

/**
 * One thing that happens, at a millisecond since midnight. `stop`: the process ends in good order; `kill`: it dies.
 * `reject` and `accept`: from now on the API answers 401 to every token, or accepts tokens again.
 */
export type Step =
  | { readonly at: number; readonly kind: 'start' | 'call' | 'stop' | 'kill'; readonly process: string }
  | { readonly at: number; readonly kind: 'reject' | 'accept' };

const dayMs = 86_400_000;
const maxEvents = 10_000_000;

/**
 * Writes down the day of `createDay`, for a fleet of any program to live through. Every call is answered at once.
 * @throws Error if the settings have an incident that is no step
 */
export async function timetableOf(settings: Settings): Promise<Step[]> {
  const steps: Step[] = [];
  const world = createWorld(tooMuch, undefined, maxEvents);
  const random = createRandom(`day ${settings.seed}`);
  const note = (kind: 'start' | 'call' | 'stop' | 'kill', process: string) =>
    void steps.push({ at: world.now, kind, process });
  const fleet = createFleet(world, random.fork('calls'), settings.processes, ({ name }) => {
    note('start', name);
    return {
      async call() {
        note('call', name);
        return 200;
      },
      token: () => undefined,
      close: async () => note('stop', name),
    };
  });
  const noted = {
    deploy: fleet.deploy,
    crash(index: number) {
      const machine = fleet.members[index]?.machine;
      if (machine?.alive) note('kill', machine.name);
      fleet.crash(index);
    },
  };
  const incidents = planIncidents(world, random, settings, [noted], {
    rejectAll: (on) => void steps.push({ at: world.now, kind: on ? 'reject' : 'accept' }),
    slowDown: noStep,
    failOver: noStep,
  });
  await incidents.runUntil(dayMs);
  return steps;
}

function noStep(): never {
  throw new Error('Only deploys, crashes and 401s are steps of a timetable.');
}

function tooMuch(): never {
  throw new Error('The day has too many events.');
}
