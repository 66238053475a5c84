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
 * Creates a client from environment variables: `SERVICE_AUTH_URL`, `SERVICE_BASE_URL`, `SERVICE_AUTH_AUDIENCE`, `SERVICE_AUTH_CLIENT_ID`,
 * `SERVICE_AUTH_CLIENT_SECRET` and the optional `SERVICE_AUTH_TOKEN_LIMIT` (1 to 1,000,000; default 150). An empty variable counts as
 * missing. Options in `overrides` replace variables.
 * @throws `ERR_CONFIG` with all problems. They name the variable of each option that is not in `overrides`
 */
export function createServiceAuthFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  overrides: Partial<ServiceAuthOptions> = {},
): ServiceAuth {
  const read = (name: string) => (Object.hasOwn(env, name) && env[name] !== '' ? env[name] : undefined);
  const values = Object.entries(variables).map(([option, variable]) => [option, read(variable)]);
  const { 'issuanceLimit.tokens': tokens, ...fromEnv } = Object.fromEntries(values);
  const fromVariable = tokens === undefined ? {} : { tokens: /^\d{1,9}$/.test(tokens) ? Number(tokens) : Number.NaN };
  // A window in `overrides` must not replace the limit of the variable by the default.
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
