import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import {
  authenticationVariables,
  secretVariables,
  unreadVariables,
  variables as variablesOfCore,
} from '@service-auth/core/record';
import { type Context, textOf } from '../line/command.ts';
import { printable } from '../line/printable.ts';
import { variables } from './options.ts';

/** Variables by their names. An empty variable counts as missing. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadEnvironment {
  readonly env: Environment;
  readonly problems: readonly string[];
}

/** The audiences of `SERVICE_AUTH_AUDIENCE`. The first one is the default of `serve`. */
export function audiencesOf(env: Environment): readonly string[] {
  return [...new Set((env[variables.audience] ?? '').split(/\s+/).filter(Boolean))];
}

type Owner = { readonly [Name in 'authUrl' | 'tokenEndpoint' | 'issuer']: string | undefined } & { clientId: string };

export function ownerOf(env: Environment): Owner {
  const { authUrl, tokenEndpoint, issuer, clientId } = variablesOfCore;
  return {
    authUrl: env[authUrl],
    tokenEndpoint: env[tokenEndpoint],
    issuer: env[issuer],
    clientId: env[clientId] ?? '',
  };
}

/** True if the client authenticates in another way. Token requests are forms then, not JSON. */
export function hasClientAuthentication(env: Environment): boolean {
  return Object.values(authenticationVariables).some((name) => env[name]);
}

/** Whether the client has something else to authenticate by than a client secret. */
export function hasOtherCredential(env: Environment): boolean {
  const { key, keyFile, assertionFile, method } = authenticationVariables;
  return [key, keyFile, assertionFile].some((name) => env[name]) || env[method] === 'tls_client_auth';
}

/** What people call the settings of a client where the configuration may be of any provider. */
export const settingsOfProvider = "the provider's settings";

/** Returns what people call the settings of a client. The service has a dashboard for them. */
export function settingsOf(env: Environment): string {
  const { authUrl, tokenEndpoint } = ownerOf(env);
  const isService = authUrl !== undefined && tokenEndpoint === undefined && !hasClientAuthentication(env);
  return isService ? 'the Settings of the dashboard' : settingsOfProvider;
}

const alreadyRead = new WeakMap<Context, Promise<ReadEnvironment>>();

/**
 * Reads the configuration of a command: an option wins over the environment, and the environment
 * over `--env-file`, as with `node --env-file`. It is read once for each context, because a secret
 * may come through a pipe, which is empty afterwards.
 */
export function readEnvironment(context: Context): Promise<ReadEnvironment> {
  const known = alreadyRead.get(context) ?? readOnce(context);
  alreadyRead.set(context, known);
  return known;
}

async function readOnce({ flags, env, stderr }: Context): Promise<ReadEnvironment> {
  const problems: string[] = [];
  const fromFiles: Record<string, string | undefined> = {};
  for (const file of [flags['env-file'] ?? []].flat()) {
    const content = await contentOf(String(file), '--env-file', problems);
    Object.assign(fromFiles, content === undefined ? {} : parseEnv(content));
  }
  const fromOptions = Object.entries(variables).flatMap(([option, name]) => {
    const value = textOf(flags, option);
    return value === undefined ? [] : [[name, value] as const];
  });
  const merged: Record<string, string | undefined> = Object.fromEntries([
    ...filled(fromFiles),
    ...filled(env),
    ...fromOptions,
  ]);
  if (hasPassword(textOf(flags, 'store'))) {
    stderr.write('service-auth: warning: others can read the password in --store. Set SERVICE_AUTH_STORE instead.\n');
  }
  for (const [name, warning] of unreadVariables(merged)) {
    stderr.write(`service-auth: warning: ${printable(warning)}\n`);
    // Core would warn again, each time that it reads the variables. It knows the name, and tells it
    // if another variable is missing.
    merged[name] = undefined;
  }
  for (const name of secretVariables) await readSecret(name, merged, problems);
  return { env: merged, problems };
}

function filled(env: Environment): [string, string | undefined][] {
  return Object.entries(env).filter(([, value]) => value);
}

function hasPassword(address: string | undefined): boolean {
  return address !== undefined && /^[a-z]+:\/\/[^/?#]*:[^/?#]+@/i.test(address);
}

async function readSecret(name: string, env: Record<string, string | undefined>, problems: string[]): Promise<void> {
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') return;
  if (env[name]) problems.push(`${name} and ${name}_FILE are both set; set one of them`);
  // The variable has the content from here on, and core takes only one of the two.
  env[`${name}_FILE`] = undefined;
  const content = await contentOf(file, `${name}_FILE`, problems);
  if (content !== undefined) env[name] = withoutLineEnd(content);
}

/** Reads a file. Adds what is wrong with it to `problems`. `name`: what names it. */
export async function contentOf(file: string, name: string, problems: string[]): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    problems.push(`${name} names a file that cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

/** Editors and `echo` end a file with a line end, which is no part of the secret. */
function withoutLineEnd(content: string): string {
  return content.replace(/\r?\n$/, '');
}
