import { configError } from './config-problems.ts';
import { type ConfigProblem, isServiceAuthError } from './errors.ts';
import { parseWindows } from './issuance-limit.ts';
import type { ServiceAuthOptions } from './options.ts';
import { createServiceAuth } from './service-auth.ts';
import { resolveOptions } from './settings.ts';
import type { ServiceAuth } from './token-source.ts';
import { ownProperties } from './untrusted.ts';

const variables = {
  authUrl: 'SERVICE_AUTH_URL',
  baseUrl: 'SERVICE_BASE_URL',
  audience: 'SERVICE_AUTH_AUDIENCE',
  clientId: 'SERVICE_AUTH_CLIENT_ID',
  clientSecret: 'SERVICE_AUTH_CLIENT_SECRET',
  storeKey: 'SERVICE_AUTH_STORE_KEY',
  instance: 'SERVICE_AUTH_INSTANCE',
  'issuanceLimit.tokens': 'SERVICE_AUTH_TOKEN_LIMIT',
  'issuanceLimit.reserve': 'SERVICE_AUTH_RESERVE',
} as const;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads options from environment variables: `SERVICE_AUTH_URL`, `SERVICE_BASE_URL`, `SERVICE_AUTH_AUDIENCE`, `SERVICE_AUTH_CLIENT_ID`,
 * `SERVICE_AUTH_CLIENT_SECRET`. Optional are `SERVICE_AUTH_TOKEN_LIMIT` (1 to 1,000,000 tokens, default 150; or windows such as `10/1h,50/24h`, with the
 * units `s`, `m`, `h`, `d`), `SERVICE_AUTH_RESERVE`, `SERVICE_AUTH_STORE_KEY` and `SERVICE_AUTH_INSTANCE`. An empty variable counts as missing. Options in
 * `overrides` replace variables; one that is undefined does not.
 * @throws `ERR_CONFIG` with all problems. They name the variable of each option that is not in `overrides`
 */
export function optionsFromEnv(env: Env, overrides: Partial<ServiceAuthOptions> = {}): ServiceAuthOptions {
  if (typeof env !== 'object' || env === null) {
    throw configError([{ option: 'env', message: 'must be an object with the variables, such as process.env' }]);
  }
  const read = (name: string) => (Object.hasOwn(env, name) && env[name] !== '' ? env[name] : undefined);
  const given = ownProperties(Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)));
  const { issuanceLimit: limit = {} } = given as Partial<ServiceAuthOptions>;
  const isOverridden = (option: string) => {
    const [top = '', nested] = variableOption(option).split('.', 2);
    if (nested === undefined) return Object.hasOwn(given, top);
    return Object.hasOwn(Object(limit), nested) || (nested === 'tokens' && Object.hasOwn(Object(limit), 'windows'));
  };
  const taken = Object.entries(variables).filter(([option]) => !isOverridden(option));
  const values = Object.fromEntries(taken.map(([option, variable]) => [option, read(variable)]));
  const { 'issuanceLimit.tokens': tokens, 'issuanceLimit.reserve': reserve, ...fromEnv } = values;
  const limitFromEnv = {
    ...(tokens !== undefined &&
      (tokens.includes('/') ? { windows: parseWindows(tokens) ?? [] } : { tokens: integer(tokens) })),
    ...(reserve !== undefined && { reserve: integer(reserve) }),
  };
  // A window in `overrides` must not replace the limit of the variable by the default.
  const issuanceLimit = typeof limit === 'object' && limit !== null ? { ...limitFromEnv, ...limit } : limit;
  const options = { ...fromEnv, ...given, issuanceLimit } as ServiceAuthOptions;

  const mistakes = taken.flatMap(([, option]) => {
    const message = mistakeIn(read(option));
    return message === undefined ? [] : [{ option, message }];
  });
  const problems = problemsOf(options).map((problem) =>
    isOverridden(problem.option) ? problem : named(problem, read),
  );
  const others = problems.filter(({ option }) => !mistakes.some((mistake) => mistake.option === option));
  if (mistakes.length + others.length > 0) throw configError([...mistakes, ...others]);
  return options;
}

/**
 * Creates a client from environment variables, as `createServiceAuth(optionsFromEnv(env, overrides))` does.
 * @throws `ERR_CONFIG` with all problems, as `optionsFromEnv` does
 */
export function createServiceAuthFromEnv(env: Env, overrides?: Partial<ServiceAuthOptions>): ServiceAuth {
  return createServiceAuth(optionsFromEnv(env, overrides));
}

/** Returns what is wrong with a variable that a shell, a container or a template did not set as it was meant. */
function mistakeIn(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (/^(["']).*\1$/s.test(value)) return 'is in quotes; what sets it keeps them: remove them there';
  return /\$\{\w+\}/.test(value) ? `contains a reference such as $\{NAME} that nothing replaced` : undefined;
}

function integer(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function problemsOf(options: ServiceAuthOptions): readonly ConfigProblem[] {
  try {
    resolveOptions(options);
    return [];
  } catch (error) {
    if (isServiceAuthError(error) && error.code === 'ERR_CONFIG') return error.problems;
    throw error;
  }
}

/** The option whose variable has this option, too: the one of `tokens` may have windows, and a problem of one window is one of all. */
function variableOption(option: string): string {
  return option.replace(/\.windows\b.*/, '.tokens');
}

/** Names the variable of a problem in place of its option. */
function named({ option: given, message }: ConfigProblem, read: (name: string) => string | undefined): ConfigProblem {
  const whole = variableOption(given);
  if (!Object.hasOwn(variables, whole)) return { option: given, message };
  const option = variables[whole as keyof typeof variables];
  if (read(option) === undefined) return { option, message: 'is not set' };
  const isLimit = whole === 'issuanceLimit.tokens';
  return { option, message: isLimit ? `must be like 300 or 10/1h,50/24h (${message})` : message };
}
