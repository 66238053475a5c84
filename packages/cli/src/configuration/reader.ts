import {
  createUsageReader,
  type IssuanceLimit,
  memoryStore,
  optionsFromEnv,
  type ServiceAuthOptions,
  type Store,
  type StoreSnapshot,
} from '@service-auth/core';
import { failuresInRow, type RequestedToken } from '@service-auth/core/record';
import { abortable } from '@service-auth/core/store';
import type { Context } from '../line/command.ts';
import { UsageError } from '../line/exit.ts';
import type { Scene } from '../report/screen.ts';
import type { Usage } from '../report/usage.ts';
import type { Diagnosis } from '../stores/address.ts';
import { examineOtherPlaces } from '../stores/other-places.ts';
import { checked, openedStore, statesLimit } from './client.ts';
import { audiencesOf, type Environment, hasOtherCredential, readEnvironment, serverOf } from './environment.ts';

/** A reader of the record, without the client secret. */
export interface Reader {
  readonly env: Environment;
  /** Reads the record. Nothing is written. */
  read(): Promise<{ readonly usage: Usage; readonly scene: Scene; readonly snapshot: StoreSnapshot | undefined }>;
  /**
   * Finds what is wrong with the place of the record. Resolves with nothing if the store does not
   * tell.
   */
  problemsOfStore(): Promise<readonly Diagnosis[]>;
}

const examinedWithinMs = 5_000;

/**
 * Opens the store of the configuration to read the record.
 * @throws UsageError with all problems of the configuration
 */
export async function openReader(context: Context): Promise<Reader> {
  const { env, problems } = await readEnvironment(context);
  const found = [...problems];
  const opened = await openedStore(env, found, false);
  const { SERVICE_AUTH_CLIENT_ID: client = '' } = env;
  // A reader has neither audience nor secret, but the limits of the environment have to be right.
  const options = await checked(() => readOptions(env), found);
  if (found.length > 0 || !opened) throw new UsageError([...new Set(found)]);
  const { store } = opened;
  const issuanceLimit = statesLimit(env) ? (options?.issuanceLimit as IssuanceLimit | undefined) : undefined;
  const server = serverOf(env);
  const owner = { ...server, clientId: client };
  let last: StoreSnapshot | undefined;
  const observed: Store = {
    ...store,
    durability: store.durability,
    swap: (key, change, options) => store.swap(key, change, options),
    async load(key, options) {
      last = await store.load(key, options);
      return last;
    },
  };
  const reader = createUsageReader({ ...owner, store: observed, issuanceLimit });
  const authUrl = server.tokenEndpoint ?? server.authUrl ?? server.issuer ?? '';
  const scene = { client, authUrl, store: opened.label, durability: store.durability };
  return {
    env,
    async read() {
      const usage = await reader.getUsage();
      const { record, now } = last ?? {};
      const failures = record === undefined ? [] : failuresInRow(record, now);
      return { usage, scene: { ...scene, hasRecord: record !== undefined, failures }, snapshot: last };
    },
    async problemsOfStore() {
      const facts = [opened.examine?.() ?? Promise.resolve([]), examineOtherPlaces(opened, owner)];
      const deadline = AbortSignal.timeout(examinedWithinMs);
      const told = await Promise.all(facts.map((fact) => abortable(fact, deadline).catch(() => [])));
      return told.flat().filter(({ state }) => state !== 'ok');
    },
  };
}

/**
 * Returns the options that core reads from the environment. A reader needs neither audience nor
 * secret.
 * @throws `ERR_CONFIG`
 */
export function readOptions(env: Environment): ServiceAuthOptions {
  const { SERVICE_AUTH_CLIENT_SECRET: secret = hasOtherCredential(env) ? undefined : 'none' } = env;
  const [audience = 'none'] = audiencesOf(env);
  const { authUrl, tokenEndpoint, issuer } = serverOf(env);
  // A reader knows the record by the issuer alone.
  const endpoint = tokenEndpoint ?? (authUrl ? undefined : issuer);
  const variables = {
    ...env,
    SERVICE_AUTH_TOKEN_ENDPOINT: endpoint,
    SERVICE_AUTH_AUDIENCE: audience,
    SERVICE_AUTH_CLIENT_SECRET: secret,
  };
  return optionsFromEnv(variables, { store: memoryStore() });
}

/**
 * Returns what the configuration requests: a token for each audience, or the one without any.
 * @throws `ERR_CONFIG`
 */
export function requestedTokens(env: Environment): RequestedToken[] {
  const { tokenEndpoint, scope, resource, parameters } = readOptions(env);
  const audiences = audiencesOf(env);
  return (audiences.length > 0 ? audiences : [undefined]).map((audience) => {
    return { tokenEndpoint, audience, scope, resource, parameters };
  });
}

/** Says which store has no record, and of which client. */
export function absenceIn(env: Environment, { store, client, authUrl }: Scene): string {
  const unset = env['SERVICE_AUTH_STORE'] === undefined ? ' (SERVICE_AUTH_STORE is not set)' : '';
  return `${store}${unset} has no record of client ${client} at ${authUrl}`;
}
