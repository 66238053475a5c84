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
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import type { Scene } from '../report/screen.ts';
import type { Usage } from '../report/usage.ts';
import { byOwnClock } from '../report/whose.ts';
import { adviceOf, nameOf } from '../stores/address.ts';
import type { Diagnosis } from '../stores/diagnosis.ts';
import { factsOf } from '../stores/other-places.ts';
import { checked, openedStore, statesLimit } from './client.ts';
import { audiencesOf, type Environment, hasOtherCredential, ownerOf, readEnvironment } from './environment.ts';

/** The record of one client in its store. No client secret is needed for it. */
export interface Reader {
  readonly env: Environment;
  readonly store: Store;
  readonly label: string;
  /** Reads the usage. Nothing is written. */
  read(): Promise<{ readonly usage: Usage; readonly scene: Scene; readonly snapshot: StoreSnapshot | undefined }>;
  /** Finds what is wrong with the place of the record. None: the store does not tell. */
  problemsOfStore(): Promise<readonly Diagnosis[]>;
  /**
   * Returns the record as it is stored.
   * @throws Failure with the exit code for stores
   */
  load(): Promise<StoreSnapshot>;
  /**
   * Resolves with whether the record was replaced.
   * @throws Failure with the exit code for stores
   */
  swap(expected: string | undefined, record: string): Promise<boolean>;
}

const deadlineMs = 5_000;

/**
 * Opens the store of the configuration for the record. `writes`: the command changes it. `others`:
 * problems of the command, which are told with those of the configuration.
 * @throws UsageError with all problems
 */
export async function openReader(
  context: Context,
  { writes = false, others = [] }: { readonly writes?: boolean; readonly others?: readonly string[] } = {},
): Promise<Reader> {
  const { env, problems } = await readEnvironment(context);
  const found = [...others, ...problems];
  const opened = await openedStore(env, found, writes);
  // A reader has neither audience nor secret, but the limits of the environment have to be right.
  await checked(() => readOptions(env), found);
  if (found.length > 0 || !opened) throw new UsageError(found);
  const { store, label } = opened;
  const owner = ownerOf(env);
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
  const reader = createUsageReader({ ...owner, store: observed, issuanceLimit: statedLimit(env) });
  const authUrl = owner.tokenEndpoint ?? owner.authUrl ?? owner.issuer ?? '';
  const scene = { client: owner.clientId, authUrl, store: label, durability: store.durability };

  async function answered<Answer>(verb: string, call: (key: string, signal: AbortSignal) => Promise<Answer>) {
    try {
      return await call(await reader.recordKey, AbortSignal.timeout(deadlineMs));
    } catch (error) {
      const advice = adviceOf(error);
      const toDo = advice === undefined ? '. Check the store and try again.' : `: ${advice}`;
      throw new Failure(`the store ${label} could not be ${verb} (${nameOf(error)})${toDo}`, exitCodes.store);
    }
  }

  return {
    env,
    store,
    label,
    async read() {
      const usage = await reader.getUsage();
      const { record, now } = last ?? {};
      const failures = record === undefined ? [] : failuresInRow(record, now);
      const local = failures.map((failure) => byOwnClock(failure, usage));
      return { usage, scene: { ...scene, hasRecord: record !== undefined, failures: local }, snapshot: last };
    },
    async problemsOfStore() {
      const facts = await factsOf(opened, owner, AbortSignal.timeout(deadlineMs), () => []);
      return facts.filter(({ state }) => state !== 'ok');
    },
    load: () => answered('read', (key, signal) => store.load(key, { signal })),
    async swap(expected, record) {
      const change = { version: crypto.randomUUID(), record, ...(expected !== undefined && { expected }) };
      return (await answered('written', (key, signal) => store.swap(key, change, { signal }))).swapped;
    },
  };
}

/**
 * Returns the limit that the environment states. Undefined: that of the record counts.
 * @throws `ERR_CONFIG`
 */
export function statedLimit(env: Environment): IssuanceLimit | undefined {
  return statesLimit(env) ? (readOptions(env).issuanceLimit as IssuanceLimit | undefined) : undefined;
}

/**
 * Returns the options that core reads from the environment. A reader needs neither audience nor
 * secret.
 * @throws `ERR_CONFIG`
 */
export function readOptions(env: Environment): ServiceAuthOptions {
  const { SERVICE_AUTH_CLIENT_SECRET: secret = hasOtherCredential(env) ? undefined : 'none' } = env;
  const [audience = 'none'] = audiencesOf(env);
  const { authUrl, tokenEndpoint, issuer } = ownerOf(env);
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
