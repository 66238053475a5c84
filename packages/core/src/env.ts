import { configError } from './config-problems.ts';
import { type ConfigProblem, isServiceAuthError } from './errors.ts';
import { ownProperties } from './foreign.ts';
import type { ServiceAuthOptions } from './options.ts';
import { createServiceAuth } from './service-auth.ts';
import type { ServiceAuth } from './token-source.ts';

const variables = {
  authUrl: 'SERVICE_AUTH_URL',
  baseUrl: 'SERVICE_BASE_URL',
  audience: 'SERVICE_AUTH_AUDIENCE',
  clientId: 'SERVICE_AUTH_CLIENT_ID',
  clientSecret: 'SERVICE_AUTH_CLIENT_SECRET',
  'issuanceLimit.tokens': 'SERVICE_AUTH_TOKEN_LIMIT',
} as const;

/**
 * {@link createServiceAuth} with what the environment says: `SERVICE_AUTH_URL`, `SERVICE_BASE_URL`, `SERVICE_AUTH_AUDIENCE`,
 * `SERVICE_AUTH_CLIENT_ID`, `SERVICE_AUTH_CLIENT_SECRET` and, optionally, `SERVICE_AUTH_TOKEN_LIMIT` (1 to 1,000,000).
 * An empty variable counts as missing. `overrides` win.
 * @throws `ERR_CONFIG`, naming variables where the value came, or should have come, from one
 */
export function createServiceAuthFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  overrides: Partial<ServiceAuthOptions> = {},
): ServiceAuth {
  const read = (name: string) => (Object.hasOwn(env, name) && env[name] !== '' ? env[name] : undefined);
  const values = Object.entries(variables).map(([option, variable]) => [option, read(variable)]);
  const { 'issuanceLimit.tokens': tokens, ...fromEnv } = Object.fromEntries(values);
  const fromVariable = tokens === undefined ? {} : { tokens: /^\d{1,9}$/.test(tokens) ? Number(tokens) : Number.NaN };
  // Setting a window in code must not bring back the default number of tokens.
  const { issuanceLimit: given = {} } = ownProperties(overrides);
  const issuanceLimit = typeof given === 'object' && given !== null ? { ...fromVariable, ...given } : given;
  try {
    return createServiceAuth({ ...fromEnv, ...overrides, issuanceLimit } as ServiceAuthOptions);
  } catch (error) {
    if (!isServiceAuthError(error) || error.code !== 'ERR_CONFIG') throw error;
    throw configError(error.problems.map((problem) => named(problem, overrides, read)));
  }
}

function named(
  problem: ConfigProblem,
  overrides: Partial<ServiceAuthOptions>,
  read: (name: string) => string | undefined,
): ConfigProblem {
  const { option, message } = problem;
  const [top = '', nested] = option.split('.', 2);
  const given = nested === undefined ? overrides : (overrides[top as 'issuanceLimit'] ?? {});
  if (!Object.hasOwn(variables, option) || Object.hasOwn(given, nested ?? top)) return problem;
  const variable = variables[option as keyof typeof variables];
  return { option: variable, message: read(variable) === undefined ? 'is not set' : message };
}
