import type { ConfigProblem } from '../contract/errors.ts';
import { variables } from '../contract/variables.ts';
import { ownProperty } from '../platform/untrusted.ts';

export type Env = Readonly<Record<string, string | undefined>>;

const argumentsOfStores: Readonly<Record<string, string>> = {
  file: 'directory',
  redis: 'client',
  postgres: 'pool',
  mysql: 'pool',
  sqlite: 'database',
  dynamodb: 'client',
};

/**
 * Says how to give the store of an address in code. The address itself may have a password, so it
 * is not shown.
 */
export function problemOfAddress(address: string): string {
  const [scheme = ''] = /^[a-z]+/.exec(address.replace(/^mariadb/, 'mysql')) ?? [];
  const kind = Object.keys(argumentsOfStores).find((name) => scheme.startsWith(name));
  const option = /[?&](prefix|table)=/.exec(address)?.[1] ?? (/^dynamodb:[^?]/.test(address) ? 'table' : undefined);
  const given = address === 'file:' ? '' : `${argumentsOfStores[kind ?? '']}${option ? `, { ${option} }` : ''}`;
  const line = kind
    ? `import { ${kind}Store } from '@service-auth/${kind}'; createServiceAuthFromEnv(process.env, { store: ${kind}Store(${given}) })`
    : 'createServiceAuthFromEnv(process.env, { store })';
  return `is opened by the command line only, so write ${line}`;
}

/**
 * Returns the problem of a variable that a shell, a container or a template has not set as
 * intended.
 */
export function mistakeIn(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (/^(["']).*\1$/s.test(value)) return 'is wrapped in quotes: remove them where it is set';
  return /\$\{\w+\}/.test(value) ? `contains a reference such as $\{NAME} that nothing replaced` : undefined;
}

/**
 * Returns the option whose variable contains this option, too: the variable of `tokens` may contain
 * windows, and those of `parameters` and `headers` contain all of their members.
 */
export function variableOption(option: string): string {
  return option.replace(/\.windows\b.*/, '.tokens').replace(/^(parameters|headers)\..*/, '$1');
}

/** Names the variable of a problem in place of its option. */
export function named(
  { option: given, message }: ConfigProblem,
  read: (name: string) => string | undefined,
  env: Env,
): ConfigProblem {
  const whole = variableOption(given);
  if (!Object.hasOwn(variables, whole)) return { option: given, message };
  const option = variables[whole as keyof typeof variables];
  if (read(option) === undefined) {
    const why = /^must be given(: .*)/.exec(message)?.[1] ?? '';
    const orElse = whole === 'authUrl' ? `, nor ${variables.tokenEndpoint}` : '';
    const how = ownProperty(env, option) === '' ? 'is empty' : 'is not set';
    return { option, message: `${how}${orElse}${why}` };
  }
  const isLimit = whole === 'issuanceLimit.tokens';
  if (!isLimit && given !== whole) return { option, message: `has ${given.slice(whole.length + 1)}, which ${message}` };
  const form = isLimit
    ? '300, 10/1h,50/24h or 10 requests/10m, or unlimited'
    : whole === 'lifetimeMs' && '50m, 12h or 30d';
  return { option, message: form ? `must be like ${form} (${message})` : message };
}
