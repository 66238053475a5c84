import type { IssuanceLimit, ServiceAuth, ServiceAuthError, TransportResponse } from '@service-auth/core';
import { day, minute, second } from '../judge/units.ts';
import { createMachine } from '../machine.ts';
import type { CreateServiceAuth } from '../parts.ts';
import { createRandom } from '../random.ts';
import { createService, credentials } from '../service.ts';
import { createSimulatedStore, type SimulatedStore } from '../simulated-store.ts';
import { createWorld } from '../world.ts';

/** A store, an endpoint and the time, in the hands of a test. Stores and endpoints answer at once. */
export interface Bed {
  readonly store: SimulatedStore;
  /** The answer of the endpoint. Undefined: it issues a token. */
  answer: TransportResponse | undefined;
  /** Starts a process that has seen nothing yet. `build`: another build of core than that of the bed. */
  start(name: string, build?: CreateServiceAuth): ServiceAuth;
  /** So much time passes. */
  pass(ms: number): Promise<void>;
  /** Has tokens issued one after another, as many as there are until a caller is refused, `most` at most. Returns their number. */
  spend(by: ServiceAuth, most: number): Promise<number>;
  /** The tokens that the endpoint issued in the last 24 hours. */
  issuedInADay(): number;
}

interface BedOptions {
  readonly issuanceLimit: IssuanceLimit;
  /** The lead of the store's clock. */
  readonly storeAheadMs?: number;
}

const lifeMs = 150 * second;
/** Each token has expired when the next one is asked for. */
const everyMs = 3 * minute;

export function createBed(createServiceAuth: CreateServiceAuth, { issuanceLimit, storeAheadMs = 0 }: BedOptions): Bed {
  const time = createWorld();
  const random = createRandom('scenario');
  const store = createSimulatedStore(time, storeAheadMs);
  const service = createService(time, credentials.clientSecret, () => lifeMs);
  const bed: Bed = {
    store,
    answer: undefined,
    start(name, build = createServiceAuth) {
      const machine = createMachine(time, name, random.integer(0, day));
      return build({
        ...credentials,
        audience: 'api',
        issuanceLimit,
        store: {
          durability: 'durable',
          load: async () => store.load('left'),
          swap: async (_key, change) => store.swap('left', change),
        },
        transport: async ({ body }) => bed.answer ?? { headers: {}, ...service.receive(body, time.now, name) },
        clock: machine.clock,
        instance: name,
      });
    },
    pass: (ms) => time.runUntil(time.now + ms),
    async spend(by, most) {
      for (let count = 0; count < most; count++) {
        try {
          await by.getToken();
        } catch (error) {
          if (/^ERR_(ISSUANCE_LIMIT|RATE_LIMITED)$/.test((error as ServiceAuthError).code)) return count;
          throw error;
        }
        await bed.pass(everyMs);
      }
      return most;
    },
    issuedInADay: () => service.issuedSince(time.now - day),
  };
  return bed;
}
