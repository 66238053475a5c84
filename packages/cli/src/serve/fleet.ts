import {
  type Clock,
  createServiceAuth,
  memoryStore,
  optionsFromEnv,
  type ServiceAuth,
  type ServiceAuthEventListener,
  type Store,
} from '@service-auth/core';
import { checked, instanceOf, openedStore } from '../configuration/client.ts';
import { audiencesOf, type Environment, readEnvironment } from '../configuration/environment.ts';
import type { Context } from '../line/command.ts';
import { UsageError } from '../line/exit.ts';
import { type KeptToken, keepToken } from './kept-token.ts';
import type { ExpectedClient } from './token-request.ts';

/** The clients of this process: one for each audience, over one store. */
export interface Clients {
  /** The first one is the default. Without any, there is an empty one. */
  readonly audiences: readonly string[];
  readonly auth: ServiceAuth;
  kept(audience: string): KeptToken;
  readonly all: readonly KeptToken[];
  expected(): ExpectedClient;
  /**
   * Reads the configuration again and takes the client secret of it.
   * @throws UsageError with the problems. The secret is kept then
   */
  rereadSecret(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

/**
 * Opens the store and creates the clients. Nothing is sent before `start()`.
 * @throws UsageError with all problems of the configuration
 */
export async function openClients(
  context: Context,
  listener: ServiceAuthEventListener,
  clock: Clock,
  others: readonly string[],
): Promise<Clients> {
  const { env, problems } = await readEnvironment(context);
  const found = [...others, ...problems];
  const opened = await openedStore(env, found, true);
  const { audiences, options } = await optionsOf(env, opened?.store, found);
  if (found.length > 0 || !opened) throw new UsageError(found);

  let secret = secretIn(env);
  const clients = options.map((each) =>
    createServiceAuth({
      ...each,
      clock,
      instance: instanceOf(env),
      ...(secret !== undefined && { clientSecret: () => secret ?? '' }),
      onEvent: listener,
    }),
  );
  const [auth] = clients as [ServiceAuth];
  const all = clients.map((client) => keepToken(client, clock));
  return {
    audiences,
    auth,
    kept: (audience) => all[audiences.indexOf(audience)] as KeptToken,
    all,
    expected: () => ({
      clientId: env['SERVICE_AUTH_CLIENT_ID'] ?? '',
      secret,
      scope: env['SERVICE_AUTH_SCOPE'],
    }),
    async rereadSecret() {
      const again = await readEnvironment({ ...context });
      const wrong = [...again.problems];
      await optionsOf(again.env, opened.store, wrong);
      if (wrong.length > 0) throw new UsageError(wrong);
      secret = secretIn(again.env);
    },
    start() {
      for (const token of all) token.start();
    },
    async close() {
      for (const token of all) token.stop();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function secretIn(env: Environment): string | undefined {
  // A file may be empty, and no caller may come in with an empty secret.
  return env['SERVICE_AUTH_CLIENT_SECRET'] || undefined;
}

/** The options of each audience. Adds what core says about them to `problems`. */
async function optionsOf(env: Environment, store: Store = memoryStore(), problems: string[]) {
  const listed = audiencesOf(env);
  const audiences = listed.length > 0 ? listed : [''];
  const checkedOptions = await Promise.all(
    audiences.map((audience) =>
      checked(() => optionsFromEnv({ ...env, SERVICE_AUTH_AUDIENCE: audience || undefined }, { store }), problems),
    ),
  );
  return { audiences, options: checkedOptions.filter((options) => options !== undefined) };
}
