import {
  createServiceAuth,
  notify,
  type ServiceAuthEvent,
  type ServiceAuthEventListener,
  type ServiceAuthOptions,
} from '@service-auth/core';
import { type Condition, trackCondition } from './condition.ts';
import type { ServiceAuth } from './service-auth.ts';

/** The use of a client by one module. */
export interface SharedClient {
  readonly client: ServiceAuth;
  /** Ends the use. Closes the client if no other module uses it. */
  release(): Promise<void>;
}

interface Entry {
  readonly client: ServiceAuth;
  readonly condition: Condition;
  /** The modules that use the client, with their listeners. */
  readonly users: Map<object, ServiceAuthEventListener | undefined>;
  /** A closure, so that no secret is readable on globalThis. */
  readonly hasOptions: (options: ServiceAuthOptions) => boolean;
}

interface Registry {
  readonly entries: Set<Entry>;
}

const registryKey: unique symbol = Symbol.for('@service-auth/nestjs');

// The registry is on globalThis, because one process may load both the ES module and the CommonJS build.
function registry(): Registry {
  const home = globalThis as { [registryKey]?: Registry };
  home[registryKey] ??= { entries: new Set() };
  return home[registryKey];
}

/**
 * Returns the client of this process that has equal options, or creates it. Since Nest 11 every `forRoot()` is a module of its own, even with
 * equal options; if each had its own client, each would have a token issued.
 * @throws ServiceAuthError `ERR_CONFIG` for wrong options
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

/** The condition of a client. Undefined if Nest did not create it. */
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
  const client = createServiceAuth({ ...options, onEvent });
  const close = async (): Promise<void> => {
    entries.delete(entry);
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

/** Compares URLs and limits by value, and functions and objects such as the store by identity. Listeners are not compared, because each one is called. */
function comparable({ onEvent: _, authUrl, baseUrl, issuanceLimit, ...rest }: ServiceAuthOptions): object {
  const isInherited = issuanceLimit === 'inherit';
  const { windows, ...limit } = isInherited ? {} : (issuanceLimit ?? {});
  const agreed = isInherited || JSON.stringify(windows?.map(({ tokens, windowMs }) => [tokens, windowMs]));
  return { ...rest, ...limit, agreed, authUrl: String(authUrl), baseUrl: String(baseUrl) };
}

function same(left: object, right: object): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]) as Set<keyof typeof left>;
  return [...names].every((name) => left[name] === right[name]);
}
