import { isServiceAuthError, type ServiceAuth, type Store, type Transport } from '@service-auth/core';
import { sendWithToken } from '@service-auth/core/http';
import { seedGlobals } from '../globals.ts';
import { day, hour, minute, second } from '../judge/units.ts';
import { createMachine, type Machine } from '../machine.ts';
import type { CreateServiceAuth } from '../parts.ts';
import { createRandom } from '../random.ts';
import { createService, credentials } from '../service.ts';
import { createSimulatedStore } from '../simulated-store.ts';
import { createWorld } from '../world.ts';
import { nameOf } from './outage-endpoint.ts';
import type { Figures } from './outage-world.ts';
import { maxEvents } from './outage-world.ts';

/** Before this instant the API accepts every token, and the record becomes old enough to know all tokens that count. */
const startsAt = 28 * hour;
const processes = 2;
const routes = 4;
const everyMs = minute;

/** A request to the API. Instants count from the beginning of the world. */
interface ApiRequest {
  readonly audience: number;
  readonly route: number;
  readonly atMs: number;
  readonly tokenAgeMs: number;
}

/** A fleet and an API that answers 401 to it. Two processes ask the API of each audience once a minute, at four routes in turn. */
export interface RejectionWorld {
  readonly name: string;
  readonly audiences: number;
  accepts(request: ApiRequest): boolean;
}

const world = (name: string, audiences: number, accepts: RejectionWorld['accepts']) => ({ name, audiences, accepts });

/** The worlds, in the order of the table. */
export const rejectionWorlds: readonly RejectionWorld[] = [
  world('all routes answer 401 for 10 h', 2, ({ atMs }) => atMs < hour || atMs > 11 * hour),
  world('one of four routes always answers 401', 2, ({ route }) => route > 0),
  world('a token dies after an hour, though it says a day', 1, ({ tokenAgeMs }) => tokenAgeMs < hour),
  world('an API answers 401 for a minute of every ten', 2, ({ atMs }) => atMs % (10 * minute) > minute),
  world('one of ten audiences always gets 401', 10, ({ audience }) => audience > 0),
];

/** Runs one world, through the public interface of core and the policy of its adapters. The same seed gives the same figures. */
export async function runRejections(
  world: RejectionWorld,
  seed: number,
  createServiceAuth: CreateServiceAuth,
): Promise<Figures> {
  const random = createRandom(`${world.name} ${seed}`);
  const time = createWorld(undefined, undefined, maxEvents);
  const store = createSimulatedStore(time);
  let issued = 0;
  const service = createService(
    time,
    credentials.clientSecret,
    () => day,
    () => {
      if (time.now > startsAt) issued = Math.max(issued, service.issuedSince(time.now - day));
    },
  );
  const acceptsAt = (audience: number, route: number, tokenAgeMs: number) => {
    const atMs = time.now - startsAt;
    return atMs < 0 || world.accepts({ audience, route, atMs, tokenAgeMs });
  };
  const later = <Result>(machine: Machine, ms: number, execute: () => Result) =>
    new Promise<Result>((resolve) => {
      time.at(time.now + ms, () => {
        const result = execute();
        machine.deliver(() => resolve(result));
      });
    });

  function storeOf(machine: Machine): Store {
    return {
      durability: 'durable',
      load: () => later(machine, random.between(0.4, 16), () => store.load('left')),
      swap: (_key, change) => later(machine, random.between(0.4, 16), () => store.swap('left', change)),
    };
  }

  const transportOf =
    (machine: Machine): Transport =>
    ({ body }) => {
      const requestedAt = time.now;
      return later(machine, second, () => ({ headers: {}, ...service.receive(body, requestedAt, machine.name) }));
    };

  const counts = { calls: 0, rejected: 0, refused: 0 };
  let unservedMs = 0;
  const servedAt = new Map<string, number>();

  async function call(machine: Machine, auth: ServiceAuth, audience: number, route: number): Promise<void> {
    const isCounted = time.now > startsAt;
    if (isCounted) counts.calls += 1;
    try {
      const status = await sendWithToken(auth, {
        send: ({ value }) =>
          later(machine, 50, () => {
            const age = time.now - (service.token(value)?.issuedAt ?? 0);
            return acceptsAt(audience, route, age) ? service.status(value) : 401;
          }),
        isRejected: (answer) => answer === 401,
        canResend: () => true,
        discard: () => {},
      });
      if (isCounted && status === 401) counts.rejected += 1;
      watch(audience, route, status === 200);
    } catch (error) {
      if (!isServiceAuthError(error)) throw error;
      if (isCounted) counts.refused += 1;
      watch(audience, route, false);
    }
  }

  /** The time counts while a new token would be accepted. */
  function watch(audience: number, route: number, isServed: boolean): void {
    const name = `${audience} ${route}`;
    const since = servedAt.get(name) ?? time.now;
    unservedMs = Math.max(unservedMs, time.now - since);
    if (isServed || !acceptsAt(audience, route, 0)) servedAt.set(name, time.now);
    else servedAt.set(name, since);
  }

  function repeat(machine: Machine, auth: ServiceAuth, audience: number, count: number): void {
    void call(machine, auth, audience, count % routes);
    time.at(time.now + everyMs * random.between(0.8, 1.2), () => repeat(machine, auth, audience, count + 1));
  }

  const restoreGlobals = seedGlobals(random.fork('core'));
  try {
    for (let index = 0; index < processes; index += 1) {
      const machine = createMachine(time, `p${index}`, random.integer(0, 240 * hour));
      const parts = { store: storeOf(machine), transport: transportOf(machine), clock: machine.clock };
      const issuanceLimit = { tokens: 150, windowMs: day };
      for (let audience = 0; audience < world.audiences; audience += 1) {
        const instance = { instance: machine.name, audience: nameOf(audience) };
        const auth = createServiceAuth({ ...credentials, ...parts, ...instance, issuanceLimit });
        time.at(random.between(0, minute), () => repeat(machine, auth, audience, index));
      }
    }
    await time.runUntil(startsAt + 2 * day);
  } finally {
    restoreGlobals();
  }
  const percent = (count: number) => Math.ceil((1_000 * count) / counts.calls) / 10;
  return {
    issued,
    rejectedPercent: percent(counts.rejected),
    refusedPercent: percent(counts.refused),
    unservedMinutes: Math.ceil(unservedMs / minute),
  };
}
