import { configError } from './config-problems.ts';
import { type ConfigProblem, isServiceAuthError } from './errors.ts';
import { ownProperties } from './foreign.ts';
import { parseWindows } from './issuance-limit.ts';
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
  'issuanceLimit.windows': 'SERVICE_AUTH_LIMITS',
  'issuanceLimit.reserve': 'SERVICE_AUTH_RESERVE',
} as const;

/**
 * Creates a client from environment variables: `SERVICE_AUTH_URL`, `SERVICE_BASE_URL`, `SERVICE_AUTH_AUDIENCE`, `SERVICE_AUTH_CLIENT_ID`,
 * `SERVICE_AUTH_CLIENT_SECRET`. Optional are `SERVICE_AUTH_TOKEN_LIMIT` (1 to 1,000,000; default 150), or `SERVICE_AUTH_LIMITS` in its place (such as
 * `10/1h,50/24h`; units `s`, `m`, `h`, `d`), and `SERVICE_AUTH_RESERVE`. An empty variable counts as missing. Options in `overrides` replace variables.
 * @throws `ERR_CONFIG` with all problems. They name the variable of each option that is not in `overrides`
 */
export function createServiceAuthFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  overrides: Partial<ServiceAuthOptions> = {},
): ServiceAuth {
  const read = (name: string) => (Object.hasOwn(env, name) && env[name] !== '' ? env[name] : undefined);
  const values = Object.entries(variables).map(([option, variable]) => [option, read(variable)]);
  const {
    'issuanceLimit.tokens': tokens,
    'issuanceLimit.windows': windows,
    'issuanceLimit.reserve': reserve,
    ...fromEnv
  } = Object.fromEntries(values);
  const fromVariables = {
    ...(tokens !== undefined && { tokens: integer(tokens) }),
    ...(windows !== undefined && { windows: parseWindows(windows) ?? [] }),
    ...(reserve !== undefined && { reserve: integer(reserve) }),
  };
  // A window in `overrides` must not replace the limit of the variable by the default.
  const { issuanceLimit: given = {} } = ownProperties(overrides);
  const issuanceLimit = typeof given === 'object' && given !== null ? { ...fromVariables, ...given } : given;
  try {
    return createServiceAuth({ ...fromEnv, ...overrides, issuanceLimit } as ServiceAuthOptions);
  } catch (error) {
    if (!isServiceAuthError(error) || error.code !== 'ERR_CONFIG') throw error;
    throw configError(error.problems.map((problem) => named(problem, overrides, read)));
  }
}

function integer(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function named(
  problem: ConfigProblem,
  overrides: Partial<ServiceAuthOptions>,
  read: (name: string) => string | undefined,
): ConfigProblem {
  const { option, message } = problem;
  // A problem of one window is one of the variable with all windows.
  const [whole = option, ...part] = option.split(/(?=\[)/);
  const [top = '', nested] = whole.split('.', 2);
  const given = nested === undefined ? overrides : (overrides[top as 'issuanceLimit'] ?? {});
  if (!Object.hasOwn(variables, whole) || Object.hasOwn(given, nested ?? top)) return problem;
  const variable = variables[whole as keyof typeof variables];
  if (read(variable) === undefined) return { option: variable, message: 'is not set' };
  if (nested !== 'windows') return { option: variable, message };
  const detail = part.length > 0 ? ` (windows${part.join('')} ${message})` : '';
  return {
    option: variable,
    message: `must be 1 to 8 windows such as 10/1h,50/24h, without SERVICE_AUTH_TOKEN_LIMIT${detail}`,
  };
}
