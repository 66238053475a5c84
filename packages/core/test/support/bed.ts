import { expect } from 'vitest';
import {
  type AccessToken,
  type AnyServiceAuthError,
  createServiceAuth,
  isServiceAuthError,
  type ServiceAuth,
  type ServiceAuthErrorCode,
  type ServiceAuthEvent,
  type ServiceAuthEventType,
  type ServiceAuthOptions,
  type Store,
  type StoreDurability,
} from '../../src/index.ts';
import { secretCanary, watchForCanaries } from './canaries.ts';
import { createFaultyStore, type FaultyStore } from './faulty-store.ts';
import { createManualClock, type ManualClock, settled } from './manual-clock.ts';
import { createScriptedEndpoint, type ScriptedEndpoint } from './scripted-endpoint.ts';

export const second = 1_000;
export const minute: number = 60 * second;
export const hour: number = 60 * minute;
export const day: number = 24 * hour;

type EventOf<Type extends ServiceAuthEventType> = Extract<ServiceAuthEvent, { type: Type }>;

/** A clock, a store and a token endpoint that the test controls, and the clients that share them. */
export interface Bed {
  readonly clock: ManualClock;
  readonly store: FaultyStore;
  readonly endpoint: ScriptedEndpoint;
  readonly events: readonly ServiceAuthEvent[];
  /** The events of one type. */
  eventsOf<Type extends ServiceAuthEventType>(type: Type): EventOf<Type>[];
  /** A client over the store of this bed: each one is a process of the fleet. */
  client(options?: Partial<ServiceAuthOptions>): ServiceAuth;
  /** The result of a client's `getToken()`, without a deadline. */
  token(client: ServiceAuth): Promise<AccessToken>;
  /** Time passes while a client is in use: `getToken()` every so often. Returns the different tokens it got. */
  use(client: ServiceAuth, forMs: number, everyMs?: number): Promise<AccessToken[]>;
}

/** The store as another process sees it. */
export function ofProcess(store: Store): Store {
  return {
    durability: store.durability,
    load: (key, options) => store.load(key, options),
    swap: (key, change, options) => store.swap(key, change, options),
  };
}

export function createBed(durability: StoreDurability = 'durable'): Bed {
  const clock = createManualClock();
  const store = createFaultyStore(clock, durability);
  const endpoint = createScriptedEndpoint();
  const events: ServiceAuthEvent[] = [];
  let clients = 0;
  return {
    clock,
    store,
    endpoint,
    events,
    eventsOf: <Type extends ServiceAuthEventType>(type: Type) =>
      events.filter((event): event is EventOf<Type> => event.type === type),
    client(options) {
      clients += 1;
      return createServiceAuth({
        authUrl: 'https://auth.example.com',
        baseUrl: 'https://api.example.com',
        audience: 'orders',
        clientId: 'client-1',
        clientSecret: secretCanary,
        // Clients of one process that share a store object share what they know of the record.
        store: ofProcess(store),
        transport: endpoint.transport,
        clock,
        instance: `process ${clients}`,
        onEvent(event) {
          watchForCanaries(`event ${event.type}`, event);
          events.push(event);
        },
        ...options,
      });
    },
    token: (client) => clock.until(client.getToken()),
    async use(client, forMs, everyMs = 20 * second) {
      const until = clock.monotonic() + forMs;
      const tokens = new Set<AccessToken>();
      while (clock.monotonic() < until) {
        await clock.advance(Math.min(everyMs, until - clock.monotonic()));
        tokens.add(await clock.until(client.getToken()));
      }
      await settled();
      return [...tokens];
    },
  };
}

/** The error that a promise rejects with, or a function throws: one of ours, of this code. */
export async function failure<Code extends ServiceAuthErrorCode>(
  code: Code,
  attempt: Promise<unknown> | (() => unknown),
): Promise<Extract<AnyServiceAuthError, { code: Code }>> {
  const error: unknown = await (typeof attempt === 'function' ? (async () => attempt())() : attempt).then(
    () => expect.fail(`expected ${code}, but it succeeded`),
    (reason: unknown) => reason,
  );
  watchForCanaries(`error ${code}`, error);
  if (!isServiceAuthError(error)) throw error;
  expect(error.code).toBe(code);
  // Express and Fastify would answer their own users with them.
  expect(
    ['status', 'statusCode', 'headers', 'expose'].filter((name) => name in error && !(name in Object.prototype)),
  ).toEqual([]);
  return error as Extract<AnyServiceAuthError, { code: Code }>;
}
