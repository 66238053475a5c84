import type { Store, StoreSnapshot } from '@service-auth/core';
import { recordKey } from '@service-auth/core/record';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { adviceOf, nameOf, type OpenedStore } from '../stores/address.ts';
import { checked, named, openedStore } from './client.ts';
import { type Environment, readEnvironment, serverOf } from './environment.ts';

/** The record of one client as its store keeps it. It is opened without the client secret. */
export interface StoredRecord {
  readonly label: string;
  readonly store: Store;
  readonly env: Environment;
  /** @throws Failure with the exit code for stores */
  load(): Promise<StoreSnapshot>;
  /**
   * Resolves with whether the record was replaced.
   * @throws Failure with the exit code for stores
   */
  swap(expected: string | undefined, record: string): Promise<boolean>;
}

const deadlineMs = 5_000;

/**
 * Opens the store of the configuration and finds the place of the record. `others`: problems of the
 * command, which are told with those of the configuration.
 */
export async function openRecord(
  context: Context,
  writes: boolean,
  others: readonly string[] = [],
): Promise<StoredRecord> {
  const { env, problems } = await readEnvironment(context);
  const found = [...others, ...problems];
  const opened = await openedStore(env, found, writes);
  const { SERVICE_AUTH_CLIENT_ID: clientId = '' } = env;
  const server = serverOf(env);
  const isKnown = Object.values(server).some((address) => address);
  const missing = [...(isKnown ? [] : ['SERVICE_AUTH_URL']), ...(clientId ? [] : ['SERVICE_AUTH_CLIENT_ID'])];
  found.push(...missing.map((name) => `${named(name)} is not set`));
  const key = missing.length > 0 ? undefined : await checked(() => recordKey({ ...server, clientId }), found);
  if (found.length > 0 || !opened || key === undefined) throw new UsageError(found);
  const { store, label } = opened;
  return {
    label,
    store,
    env,
    load: () => answered(opened, 'read', (signal) => store.load(key, { signal })),
    swap: async (expected, record) => {
      const change = { version: crypto.randomUUID(), record, ...(expected !== undefined && { expected }) };
      return (await answered(opened, 'written', (signal) => store.swap(key, change, { signal }))).swapped;
    },
  };
}

async function answered<Answer>(
  { label }: OpenedStore,
  verb: string,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await call(AbortSignal.timeout(deadlineMs));
  } catch (error) {
    const advice = adviceOf(error);
    const toDo = advice === undefined ? '. Check the store and try again.' : `: ${advice}`;
    throw new Failure(`the store ${label} could not be ${verb} (${nameOf(error)})${toDo}`, exitCodes.store);
  }
}
