import { hostname } from 'node:os';
import { createServiceAuthFromEnv, isServiceAuthError, memoryStore, type ServiceAuth } from '@service-auth/core';
import { variables as variablesOfCore } from '@service-auth/core/record';
import type { Context } from '../line/command.ts';
import { UsageError } from '../line/exit.ts';
import { AddressError, type OpenedStore } from '../stores/address.ts';
import { openStore } from '../stores/open-store.ts';
import { audiencesOf, type Environment, readEnvironment } from './environment.ts';
import { variables } from './options.ts';

/**
 * Opens the store and creates the client. It does no I/O but reading files of the configuration.
 * `anyAudience`: any of the audiences will do, if there are several.
 * @throws UsageError with all problems of the configuration
 */
export async function openClient(
  context: Context,
  { anyAudience = false }: { readonly anyAudience?: boolean } = {},
): Promise<{ readonly auth: ServiceAuth; readonly env: Environment }> {
  const { env, problems } = await readEnvironment(context);
  const found = [...problems];
  const opened = await openedStore(env, found, true);
  const create = () =>
    createServiceAuthFromEnv(env, {
      store: opened?.store ?? memoryStore(),
      instance: instanceOf(env),
      // A command that states no limit must not change that of the fleet.
      ...(statesLimit(env) ? {} : { issuanceLimit: 'inherit' }),
      ...(anyAudience ? { audience: audiencesOf(env)[0] } : {}),
    });
  const auth = await checked(create, found);
  if (found.length > 0 || !auth || !opened) throw new UsageError(found);
  return { auth, env };
}

/** Opens the store. Adds what is wrong with its address to `problems`. */
export async function openedStore(
  env: Environment,
  problems: string[],
  writes: boolean,
): Promise<OpenedStore | undefined> {
  try {
    return await openStore(env['SERVICE_AUTH_STORE'] ?? 'file:', { writes });
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    problems.push(`${named('SERVICE_AUTH_STORE')} ${error.message}`);
    return undefined;
  }
}

/** Calls a function of core. Adds what it says about options to `problems`. */
export async function checked<Result>(
  create: () => Result | Promise<Result>,
  problems: string[],
): Promise<Result | undefined> {
  try {
    return await create();
  } catch (error) {
    if (!isServiceAuthError(error) || error.code !== 'ERR_CONFIG') throw error;
    problems.push(...error.problems.map(({ option, message }) => `${named(variableOf(option))} ${message}`));
    return undefined;
  }
}

/** True if the environment states the agreement. Otherwise that of the record counts. */
export function statesLimit(env: Environment): boolean {
  return ['SERVICE_AUTH_TOKEN_LIMIT', 'SERVICE_AUTH_RESERVE'].some((name) => env[name]);
}

export function instanceOf(env: Environment): string {
  return env['SERVICE_AUTH_INSTANCE'] ?? `service-auth@${hostname()}`.slice(0, 64);
}

/** Core names variables where it knows that it reads them, and its own options elsewhere. */
const variableOf = (option: string) => new Map(Object.entries<string>(variablesOfCore)).get(option) ?? option;

/** The name of a variable with what may be given in its place. */
function named(variable: string): string {
  if (variable === 'SERVICE_AUTH_CLIENT_SECRET') return `${variable} (or ${variable}_FILE)`;
  const option = Object.entries(variables).find(([, name]) => name === variable)?.[0];
  return option === undefined ? variable : `${variable} (--${option})`;
}
