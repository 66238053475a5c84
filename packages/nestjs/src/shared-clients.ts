import {
  createServiceAuth,
  memoryStore,
  notify,
  type ServiceAuthEvent,
  type ServiceAuthEventListener,
  type ServiceAuthOptions,
  type Store,
} from '@service-auth/core';
import { type Condition, trackCondition } from './condition.ts';
import type { ServiceAuth } from './service-auth.ts';

/** One module node's hold on a client. */
export interface SharedClient {
  readonly client: ServiceAuth;
  /** Closes the client if nobody else holds it. */
  release(): Promise<void>;
}

interface Entry {
  readonly client: ServiceAuth;
  readonly condition: Condition;
  /** Who holds the client, and their listeners. */
  readonly users: Map<object, ServiceAuthEventListener | undefined>;
  /** A closure, so that no secret is found on globalThis. */
  readonly hasOptions: (options: ServiceAuthOptions) => boolean;
}

interface Registry {
  readonly entries: Set<Entry>;
  /** Counts for all clients without a store of their own, so that two audiences of one client id stay within one budget. */
  store: Store | undefined;
}

const registryKey: unique symbol = Symbol.for('@service-auth/nestjs');

// On globalThis, not in this module: one process may load the ES module and the CommonJS build.
function registry(): Registry {
  const home = globalThis as { [registryKey]?: Registry };
  home[registryKey] ??= { entries: new Set(), store: undefined };
  return home[registryKey];
}

/**
 * The client with these options: the one of this process, if there is one. Since Nest 11 every `forRoot()` is a module of its own, also
 * with the same options; with a client each, every one would have a token issued.
 * @throws `ERR_CONFIG`
 */
export function shareClient(options: ServiceAuthOptions, log: ServiceAuthEventListener): SharedClient {
  const entry = [...registry().entries].find(({ hasOptions }) => hasOptions(options)) ?? addEntry(options, log);
  const user = {};
  entry.users.set(user, options.onEvent);
  return {
    client: entry.client,
    async release() {
      entry.users.delete(user);
      if (entry.users.size === 0) await entry.client.close();
    },
  };
}

/** How a client fares, if it is one of Nest's. */
export function conditionOf(client: object): Condition | undefined {
  return [...registry().entries].find((entry) => entry.client === client)?.condition;
}

function addEntry(options: ServiceAuthOptions, log: ServiceAuthEventListener): Entry {
  const { entries } = registry();
  const condition = trackCondition(options.clock);
  const users: Entry['users'] = new Map();
  const onEvent = (event: ServiceAuthEvent): void => {
    condition.note(event);
    for (const listener of new Set([log, ...users.values()])) notify(listener, event);
  };
  const store = options.store ?? sharedStore(options);
  const client = createServiceAuth({ ...options, store, onEvent });
  const close = async (): Promise<void> => {
    entries.delete(entry);
    if (entries.size === 0) registry().store = undefined;
    await client.close();
  };
  const entry: Entry = {
    client: { ...client, close, [Symbol.asyncDispose]: close },
    condition,
    users,
    hasOptions: (others) => same(comparable(options), comparable(others)),
  };
  entries.add(entry);
  return entry;
}

function sharedStore({ clock }: ServiceAuthOptions): Store | undefined {
  if (clock) return undefined;
  const shared = registry();
  shared.store ??= memoryStore();
  return shared.store;
}

/** Addresses and limits by value; functions, the store and the like by identity. Listeners make no difference: each one is told. */
function comparable({ onEvent: _, authUrl, baseUrl, issuanceLimit, ...rest }: ServiceAuthOptions): object {
  return { ...rest, ...issuanceLimit, authUrl: String(authUrl), baseUrl: String(baseUrl) };
}

function same(left: object, right: object): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]) as Set<keyof typeof left>;
  return [...names].every((name) => left[name] === right[name]);
}
