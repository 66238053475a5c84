import type { Store } from '@service-auth/core';
import { createServiceAuthFromEnv, memoryStore } from '@service-auth/core';
import type { Context } from '../line/command.ts';
import { UsageError } from '../line/exit.ts';
import type { Scene } from '../report/screen.ts';
import type { Usage } from '../report/usage.ts';
import { checked, openedStore } from './client.ts';
import { type Environment, readEnvironment } from './environment.ts';

/** What the record says, without the client secret. */
export interface Reader {
  readonly env: Environment;
  /** Reads the record. Nothing is written. */
  read(): Promise<{ readonly usage: Usage; readonly scene: Scene }>;
}

/**
 * Opens the store of the configuration to read the record.
 * @throws UsageError with all problems of the configuration
 */
export async function openReader(context: Context): Promise<Reader> {
  const { env, problems } = await readEnvironment(context);
  const found = [...problems];
  const opened = await openedStore(env, found, false);
  const clock = { aheadMs: 0 };
  const store = opened && watched(opened.store, clock);
  const create = () =>
    createServiceAuthFromEnv({ ...env, SERVICE_AUTH_AUDIENCE: 'none', SERVICE_AUTH_CLIENT_SECRET: 'none' }, { store });
  const auth = await checked(create, found);
  if (found.length > 0 || !auth || !opened) throw new UsageError(found);
  return {
    env,
    async read() {
      const usage = await auth.getUsage();
      const { SERVICE_AUTH_CLIENT_ID: client = '', SERVICE_AUTH_URL: authUrl = '' } = env;
      const { durability } = opened.store;
      return {
        usage: {
          ...usage,
          issued: usage.used - usage.pending,
          underWay: 0,
          unknown: usage.pending,
          availableNow: usage.refusedUntil === undefined ? usage.remaining : 0,
          available: { cold: 0, refresh: 0, rejected: 0, reset: 0 },
          refusedBecause: usage.refusedUntil === undefined ? undefined : 'limit',
          spentAt: undefined,
          windows: [],
          holds: [],
          tokens: [],
          resets: [],
        },
        scene: { client, authUrl, store: opened.label, durability, storeAheadMs: clock.aheadMs },
      };
    },
  };
}

/** What core says about the configuration, as far as it is given: a person on call may have neither secret nor audience. */
export async function configurationProblems(env: Environment): Promise<readonly string[]> {
  const problems: string[] = [];
  const given = { SERVICE_AUTH_AUDIENCE: 'none', SERVICE_AUTH_CLIENT_SECRET: 'none', ...env };
  await checked(() => createServiceAuthFromEnv(given, { store: memoryStore() }), problems);
  return problems;
}

/** The store, with a look at its clock. It writes nothing. */
function watched(store: Store, clock: { aheadMs: number }): Store {
  return {
    durability: store.durability,
    async load(key, options) {
      const askedAt = Date.now();
      const snapshot = await store.load(key, options);
      clock.aheadMs = snapshot.now - (askedAt + Date.now()) / 2;
      return snapshot;
    },
    swap: async () => ({ swapped: true, now: Date.now() }),
  };
}
