import type { ServiceAuthOptions } from './options.ts';

/** The options that no variable sets, or sets only in part. */
type WithoutVariable =
  | 'allowInsecureHttp'
  | 'clientAuthentication'
  | 'clock'
  | 'issuanceLimit'
  | 'onEvent'
  | 'timeoutMs'
  | 'transport'
  | 'waitUntil';

/**
 * The environment variables, by the option that each of them sets. Core, the command line and its
 * `serve` read these.
 */
export const variables = {
  authUrl: 'SERVICE_AUTH_URL',
  tokenEndpoint: 'SERVICE_AUTH_TOKEN_ENDPOINT',
  issuer: 'SERVICE_AUTH_ISSUER',
  scope: 'SERVICE_AUTH_SCOPE',
  resource: 'SERVICE_AUTH_RESOURCE',
  parameters: 'SERVICE_AUTH_PARAMETERS',
  headers: 'SERVICE_AUTH_HEADERS',
  scheme: 'SERVICE_AUTH_SCHEME',
  recognizedTokenTypes: 'SERVICE_AUTH_TOKEN_TYPES',
  lifetimeMs: 'SERVICE_AUTH_LIFETIME',
  baseUrl: 'SERVICE_BASE_URL',
  audience: 'SERVICE_AUTH_AUDIENCE',
  clientId: 'SERVICE_AUTH_CLIENT_ID',
  clientSecret: 'SERVICE_AUTH_CLIENT_SECRET',
  storeKey: 'SERVICE_AUTH_STORE_KEY',
  instance: 'SERVICE_AUTH_INSTANCE',
  store: 'SERVICE_AUTH_STORE',
  'issuanceLimit.tokens': 'SERVICE_AUTH_TOKEN_LIMIT',
  'issuanceLimit.reserve': 'SERVICE_AUTH_RESERVE',
  'issuanceLimit.enforce': 'SERVICE_AUTH_ENFORCE_LIMIT',
} as const;
variables satisfies Record<Exclude<keyof ServiceAuthOptions, WithoutVariable> | `issuanceLimit.${string}`, string>;

/** The variables that describe how the client authenticates, by what they set. */
export const authenticationVariables = {
  method: 'SERVICE_AUTH_CLIENT_AUTHENTICATION',
  key: 'SERVICE_AUTH_PRIVATE_KEY',
  keyFile: 'SERVICE_AUTH_PRIVATE_KEY_FILE',
  keyId: 'SERVICE_AUTH_KEY_ID',
  keyAlgorithm: 'SERVICE_AUTH_KEY_ALGORITHM',
  assertionFile: 'SERVICE_AUTH_CLIENT_ASSERTION_FILE',
} as const;

/**
 * The variables that only `service-auth serve` reads, by what they set. They may stand in the
 * environment of a whole fleet.
 */
export const serveVariables = { rejectedStatuses: 'SERVICE_AUTH_REJECTED_STATUSES' } as const;

/** The variables that may lie in a file, which the variable with `_FILE` at its end names. */
export const secretVariables: readonly string[] = [variables.clientSecret, variables.storeKey, variables.headers];

const names: readonly string[] = [
  ...Object.values(variables),
  ...Object.values(authenticationVariables),
  ...Object.values(serveVariables),
  ...secretVariables.map((name) => `${name}_FILE`),
];

// Kubernetes sets some of these in every pod if there is a Service with the name service-auth.
// `service-auth token --format env` prints the others.
const ofOthers = /^SERVICE_AUTH_((SERVICE|PORT)(_.*)?|TOKEN|TOKEN_EXPIRES_AT)$/;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns a warning for each variable that begins with `SERVICE_AUTH_`, and that nothing reads, by
 * its name. If another variable was probably meant, the warning names it.
 */
export function unreadVariables(env: Env): ReadonlyMap<string, string> {
  if (isUnreadable(env)) return new Map();
  const unread = Object.keys(env)
    .filter((name) => name.startsWith('SERVICE_AUTH_') && env[name] && !names.includes(name) && !ofOthers.test(name))
    .map((name) => {
      const nearest = nearestOf(names, name);
      const advice = nearest === undefined ? ', so it has no effect.' : `. Did you mean ${nearest}?`;
      return [name, `Nothing reads the variable ${name}${advice}`] as const;
    });
  return new Map(unread);
}

/**
 * Returns for each missing variable the names of unread variables that may have been meant.
 * `missing`: the names of the missing ones. The words stand behind a sentence.
 */
export function misspeltVariables(missing: readonly string[], env: Env): ReadonlyMap<string, string> {
  const hints = new Map<string, string>();
  for (const name of isUnreadable(env) ? [] : Object.keys(env)) {
    if (!/^SERVICE_?(AUTH|BASE)/i.test(name) || names.includes(name) || ofOthers.test(name)) continue;
    const meant = nearestOf(missing, name);
    const nearest = nearestOf(names, name);
    const others = nearest !== undefined && nearest !== meant && !env[nearest] ? ` or ${nearest}` : '';
    if (meant !== undefined)
      hints.set(meant, ` (${name} is set, but nothing reads it: did you mean ${meant}${others}?)`);
  }
  return hints;
}

/** Returns the name that is most like another one. Undefined: no name is like it. */
function nearestOf(known: readonly string[], name: string): string | undefined {
  const [nearest = ''] = [...known].sort((a, b) => likeness(b, name) - likeness(a, name));
  return likeness(nearest, name) > 0.22 ? nearest : undefined;
}

/** Deno would ask the user for permission. */
function isUnreadable(env: Env): boolean {
  const { process, Deno } = globalThis as { process?: { env?: unknown }; Deno?: unknown };
  return Boolean(Deno) && env === process?.env;
}

/**
 * Returns how alike two names are, from 0 to 0.5: the share of their equal pairs of letters,
 * without the beginning that all names have.
 */
function likeness(one: string, other: string): number {
  const [first, second] = [pairsIn(one), pairsIn(other)];
  return first.filter((pair) => second.includes(pair)).length / (first.length + second.length);
}

function pairsIn(name: string): string[] {
  const own = name.toUpperCase().replace(/^SERVICE_?(AUTH_?)?/, '');
  return Array.from(own, (_, at) => own.slice(at, at + 2));
}
