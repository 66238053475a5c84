import type { ServiceAuth, ServiceAuthError, Store } from '@service-auth/core';
import { seedGlobals } from '../globals.ts';
import { hour, minute, second } from '../judge/units.ts';
import { createMachine, type Machine } from '../machine.ts';
import type { CreateServiceAuth } from '../parts.ts';
import { createRandom } from '../random.ts';
import { createService, credentials, type Service } from '../service.ts';
import { createSimulatedStore } from '../simulated-store.ts';
import { createWorld } from '../world.ts';
import { createOutageEndpoint, nameOf } from './outage-endpoint.ts';
import { createOutageWatch, type OutageWatch } from './outage-watch.ts';
import type { Figures } from './outage-world.ts';
import { maxEvents, type OutageWorld } from './outage-world.ts';

/** Makes the record. */
const pioneer = 'pioneer';
/** A record of this age knows all tokens that count. */
const maturesMs = 28 * hour;
/** After this time a token does not count any more. */
const forgottenMs = 26 * hour;

/** Runs one world, through the public interface of core. The same seed gives the same figures. */
export async function runWorld(
  world: OutageWorld,
  seed: number,
  createServiceAuth: CreateServiceAuth,
): Promise<Figures> {
  const random = createRandom(`${world.name} ${seed}`);
  const time = createWorld(undefined, undefined, maxEvents);
  const startsAt = (world.isYoung ? 0 : maturesMs) + (world.isStaggered ? forgottenMs : 0);
  const store = createSimulatedStore(time);
  const service: Service = createService(time, credentials.clientSecret, lifeOf, () => watch.issued());
  const watch: OutageWatch = createOutageWatch(time, world, startsAt, service);
  const endpoint = createOutageEndpoint(time, world, startsAt, service, random.fork('endpoint'), watch);

  const lives = random.fork('lives');
  /** The tokens that audiences have in the beginning are renewed one after another, at about 85 % of their lives. */
  function lifeOf(audience: string): number {
    if (time.now >= startsAt) return world.lifeMs;
    if (audience === pioneer) return hour;
    return Math.round((startsAt - time.now + lives.next() * world.lifeMs) / 0.85 / second) * second;
  }

  const latency = random.fork('store');
  function storeOf(machine: Machine): Store {
    const call = <Result>(execute: () => Result) =>
      new Promise<Result>((resolve) => {
        time.at(time.now + latency.between(0.2, 8), () => {
          const result = execute();
          time.at(time.now + latency.between(0.2, 8), () => machine.deliver(() => resolve(result)));
        });
      });
    return {
      durability: world.durability,
      load: () => call(() => store.load('left')),
      swap: (_key, change) => call(() => store.swap('left', change)),
    };
  }

  const names = Array.from({ length: world.audiences }, (_, audience) => nameOf(audience));
  const fleet = random.fork('fleet');

  /** Starts a process with a client for each of these audiences. */
  function start(name: string, audiences: readonly string[], killed: () => void) {
    const machine = createMachine(time, name, fleet.integer(0, 240 * hour));
    const parts = { store: storeOf(machine), transport: endpoint(machine, killed), clock: machine.clock };
    const { timeoutMs, windows } = world;
    const common = { ...credentials, ...parts, timeoutMs, issuanceLimit: { windows }, instance: name };
    const clients = audiences.map((audience) => createServiceAuth({ ...common, audience }));
    return { machine, clients };
  }

  const { processes } = world;
  const served = processes
    ? Array.from({ length: processes }, () => names)
    : Array.from({ length: Math.max(10, names.length) }, (_, index) => names.slice(index % names.length).slice(0, 1));
  const clientsInAll = served.reduce((sum, { length }) => sum + length, 0);
  const everyMs = Math.min(5 * minute, Math.max(minute, clientsInAll * 3 * second));

  /** A process whose clients are asked again and again, and in whose place another one comes when it was killed. */
  function employ(index: number, generation: number): void {
    const audiences = served[index] ?? [];
    const killed = () => void time.at(time.now + fleet.between(5, 20) * second, () => employ(index, generation + 1));
    const { machine, clients } = start(`p${index}.${generation}`, audiences, killed);
    for (const [at, client] of clients.entries())
      callAgain(machine, names.indexOf(audiences[at] as string), client, fleet.next() * minute);
  }

  /** Callers come when they were told to, or earlier, because other work comes. */
  function callAgain(machine: Machine, audience: number, client: ServiceAuth, delayMs: number): void {
    const again = (inMs: number) => callAgain(machine, audience, client, inMs);
    const call = () => {
      watch.asked(client, machine, audience);
      client.getToken().then(
        () => {
          watch.served(client);
          again(everyMs * fleet.between(0.5, 1.5));
        },
        ({ code, retryAt = 0 }: ServiceAuthError) => {
          watch.refused(client, code);
          const toldMs = Math.max(second, retryAt - machine.clock.now());
          again(Math.min(everyMs, toldMs) + fleet.between(0, 2) * second);
        },
      );
    };
    time.at(time.now + delayMs, () => machine.deliver(call));
  }

  async function begin(): Promise<void> {
    if (startsAt === 0) return;
    const { clients } = start(pioneer, [pioneer, ...names], () => {});
    const [first, ...others] = clients;
    time.at(0, () => void first?.getToken());
    if (world.isStaggered) time.at(maturesMs, () => others.map((client) => client.getToken()));
    await time.runUntil(startsAt);
  }

  const restoreGlobals = seedGlobals(random.fork('core'));
  try {
    await begin();
    for (const index of served.keys()) employ(index, 0);
    for (const { atMs, byMs } of world.clockSteps) time.at(startsAt + atMs, () => store.stepClock(byMs));
    await time.runUntil(startsAt + world.lastsMs);
    return watch.figures();
  } finally {
    restoreGlobals();
  }
}
