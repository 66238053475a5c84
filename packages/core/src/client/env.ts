import { configError } from '../contract/config-problems.ts';
import { type ConfigProblem, isServiceAuthError } from '../contract/errors.ts';
import { parseDuration, parseLimit } from '../contract/issuance-limit.ts';
import type { ServiceAuthOptions } from '../contract/options.ts';
import { misspeltVariables, secretVariables, unreadVariables, variables } from '../contract/variables.ts';
import { ownProperties, ownProperty } from '../platform/untrusted.ts';
import { warn } from '../platform/warn.ts';
import { contentOf, readLater } from './files.ts';
import { lateAuthentication } from './late-authentication.ts';
import { resolveOptions } from './resolve-options.ts';
import { createServiceAuth, type ServiceAuth } from './service-auth.ts';
import { type Env, mistakeIn, named, problemOfAddress, variableOption } from './variable-problems.ts';

const switches: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * Reads options from environment variables: `SERVICE_AUTH_URL`, `SERVICE_BASE_URL`,
 * `SERVICE_AUTH_AUDIENCE`, `SERVICE_AUTH_CLIENT_ID`, `SERVICE_AUTH_CLIENT_SECRET`. Optional are
 * `SERVICE_AUTH_TOKEN_LIMIT` (1 to 1,000,000 tokens, default 150; or windows such as
 * `10/1h,50/24h`, with the units `s`, `m`, `h`, `d`; or, where the provider counts requests,
 * `300 requests` or `10 requests/10m`), `SERVICE_AUTH_RESERVE`, `SERVICE_AUTH_ENFORCE_LIMIT`
 * (`false`: nothing is refused for the limit), `SERVICE_AUTH_STORE_KEY` and
 * `SERVICE_AUTH_INSTANCE`. An empty variable counts as missing. Options in `overrides` replace
 * variables; one that is undefined does not.
 *
 * `SERVICE_AUTH_CLIENT_SECRET_FILE` names a file with the secret. The file is read for each token
 * request, so a new secret needs no restart. The file of `SERVICE_AUTH_STORE_KEY_FILE` is read
 * once. A line end after the secret or the key is ignored.
 *
 * For any authorization server there are `SERVICE_AUTH_TOKEN_ENDPOINT` in place of
 * `SERVICE_AUTH_URL`, `SERVICE_AUTH_ISSUER`, `SERVICE_AUTH_SCOPE`, `SERVICE_AUTH_RESOURCE`
 * (separated by spaces), `SERVICE_AUTH_PARAMETERS` and `SERVICE_AUTH_HEADERS` (both written as a
 * query; the latter may lie in a file, too), `SERVICE_AUTH_SCHEME` and
 * `SERVICE_AUTH_CLIENT_AUTHENTICATION`: `client_secret_basic`, `client_secret_post`,
 * `private_key_jwt` with `SERVICE_AUTH_PRIVATE_KEY`, `SERVICE_AUTH_KEY_ID` and
 * `SERVICE_AUTH_KEY_ALGORITHM`, or `tls_client_auth`. The files of `SERVICE_AUTH_PRIVATE_KEY_FILE`
 * and `SERVICE_AUTH_CLIENT_ASSERTION_FILE` are read for each request. `SERVICE_AUTH_TOKEN_TYPES`
 * has `recognizedTokenTypes`, separated by commas, and `SERVICE_AUTH_LIFETIME` has `lifetimeMs`,
 * such as `50m`. `SERVICE_AUTH_TOKEN_LIMIT` may be `unlimited`.
 *
 * `SERVICE_AUTH_STORE` is the address of the store for the command line. A client does not open it,
 * so it needs the override `store`. Any other variable that begins with `SERVICE_AUTH_` causes a
 * warning: `process.emitWarning()`, or `console.warn()` where there is no process.
 * @throws `ERR_CONFIG` with all problems. They name the variable of each option that is not in
 * `overrides`
 */
export function optionsFromEnv(env: Env, overrides: Partial<ServiceAuthOptions> = {}): ServiceAuthOptions {
  if (typeof env !== 'object' || env === null) {
    throw configError([{ option: 'env', message: 'must be an object with the variables, such as process.env' }]);
  }
  if (typeof overrides !== 'object' || overrides === null) {
    throw configError([{ option: 'overrides', message: 'must be an object with options' }]);
  }
  const texts = new Map<string, string | undefined>();
  const wrong = new Set<string>();
  const read = (name: string): string | undefined => {
    const text = texts.get(name);
    if (text !== undefined) return text;
    const value: unknown = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    if (typeof value !== 'string') wrong.add(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const given = ownProperties(Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)));
  const { issuanceLimit: limit = {} } = given as Partial<ServiceAuthOptions>;
  const isOverridden = (option: string) => {
    const [top = '', nested] = variableOption(option).split('.', 2);
    if (nested === undefined) return Object.hasOwn(given, top);
    return Object.hasOwn(Object(limit), nested) || (nested === 'tokens' && Object.hasOwn(Object(limit), 'windows'));
  };
  const taken = Object.entries(variables).filter(([option]) => !isOverridden(option));
  const mistakes: ConfigProblem[] = [];
  for (const [, name] of taken) {
    const file = secretVariables.includes(name) ? read(`${name}_FILE`) : undefined;
    if (file === undefined) continue;
    const { text, problem } =
      read(name) === undefined ? contentOf(file) : { problem: `must not be set together with ${name}` };
    if (problem !== undefined) mistakes.push({ option: `${name}_FILE`, message: problem });
    texts.set(name, text);
  }
  const values = Object.fromEntries(taken.map(([option, variable]) => [option, read(variable)]));
  const {
    'issuanceLimit.tokens': tokens,
    'issuanceLimit.reserve': reserve,
    'issuanceLimit.enforce': enforce,
    store,
    ...texted
  } = values;
  const clientAuthentication = Object.hasOwn(given, 'clientAuthentication')
    ? undefined
    : lateAuthentication(read, (problem) => mistakes.push(problem));
  const { resource, parameters, headers, recognizedTokenTypes: tokenTypes, lifetimeMs: lifetime } = texted;
  const fromQuery = (option: 'parameters' | 'headers', text: string | undefined) => {
    if (text === undefined) return undefined;
    const query = new URLSearchParams(text);
    const report = (message: string) => mistakes.push({ option: variables[option], message });
    if (new Set(query.keys()).size < [...query].length) report('has a name twice');
    // A query that a program wrote has a plus sign for each space. People mean a plus sign.
    if (text.includes('+') && `${query}` !== text)
      report('has a + that a query reads as a space: write %2B, or %20 for a space');
    return Object.fromEntries(query);
  };
  const fromEnv = {
    ...texted,
    clientAuthentication,
    resource: resource?.split(' '),
    parameters: fromQuery('parameters', parameters),
    headers: fromQuery('headers', headers),
    recognizedTokenTypes: tokenTypes?.split(',').map((type) => type.trim()),
    lifetimeMs: lifetime === undefined ? undefined : (parseDuration(lifetime) ?? Number.NaN),
  };
  const limitFromEnv = {
    ...(tokens !== undefined &&
      (parseLimit(tokens) ?? (tokens.includes('/') ? { windows: [] } : { tokens: Number.NaN }))),
    ...(reserve !== undefined && { reserve: integer(reserve) }),
    ...(enforce !== undefined && { enforce: switches[enforce] ?? enforce }),
  };
  // A window in `overrides` must not replace the limit of the variable by the default.
  const issuanceLimit = typeof limit === 'object' && limit !== null ? { ...limitFromEnv, ...limit } : limit;
  const options = {
    ...fromEnv,
    ...given,
    issuanceLimit: tokens === 'unlimited' && !Object.hasOwn(given, 'issuanceLimit') ? tokens : issuanceLimit,
  } as ServiceAuthOptions;

  for (const [, option] of taken) {
    const message = mistakeIn(read(option));
    if (message !== undefined) mistakes.push({ option, message });
  }
  if (tokens?.includes('/') && ownProperty(limit, 'windowMs') !== undefined) {
    const message = 'has windows, so it must not be set together with the option issuanceLimit.windowMs';
    mistakes.push({ option: variables['issuanceLimit.tokens'], message });
  }
  for (const option of ['issuanceLimit.reserve', 'issuanceLimit.enforce'] as const) {
    if (tokens !== 'unlimited' || values[option] === undefined) continue;
    const why = option === 'issuanceLimit.reserve' ? 'there is nothing to keep back' : 'there is no limit';
    const message = `must not be set with ${variables['issuanceLimit.tokens']}=unlimited: ${why}`;
    mistakes.push({ option: variables[option], message });
  }
  if (store !== undefined) mistakes.push({ option: variables.store, message: problemOfAddress(store) });
  if (/\S\s+\S/.test(texted['audience'] ?? '')) {
    const message =
      'has several audiences, and a token is for one: name one, and get the others from auth.for({ audience })';
    mistakes.push({ option: variables.audience, message });
  }
  mistakes.push(...[...wrong].map((option) => ({ option, message: 'must be a string' })));
  const problems = problemsOf(options).map((problem) =>
    isOverridden(problem.option) ? problem : named(problem, read, env),
  );
  // An option without a value has no further problem if the file with its value has one.
  const others = problems.filter(({ option }) => !mistakes.some((mistake) => mistake.option.startsWith(option)));
  const found = [...mistakes, ...others].map((problem) => {
    const { option, message } = problem;
    const isFromFile = texts.get(option) !== undefined;
    return isFromFile ? { option: `${option}_FILE`, message: `names a file whose content ${message}` } : problem;
  });
  for (const warning of unreadVariables(env).values()) warn(warning, 'SERVICE_AUTH_UNREAD_VARIABLE');
  if (found.length > 0) {
    // A process that ends with this error does not print the warnings.
    const missing = found.map(({ option }) => option).filter((option) => read(option) === undefined);
    const hints = misspeltVariables(missing, env);
    throw configError(found.map(({ option, message }) => ({ option, message: message + (hints.get(option) ?? '') })));
  }

  const secretFile = texts.has(variables.clientSecret) && read(`${variables.clientSecret}_FILE`);
  return {
    ...options,
    ...(secretFile && { clientSecret: () => readLater(secretFile) }),
  };
}

/**
 * Creates a client from environment variables, as
 * `createServiceAuth(optionsFromEnv(env, overrides))` does.
 * @throws `ERR_CONFIG` with all problems, as `optionsFromEnv` does
 */
export function createServiceAuthFromEnv(env: Env, overrides?: Partial<ServiceAuthOptions>): ServiceAuth {
  return createServiceAuth(optionsFromEnv(env, overrides));
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
