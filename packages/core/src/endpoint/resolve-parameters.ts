import type { ServiceAuthOptions, TokenOptions } from '../contract/options.ts';
import type { TokenParameters } from '../contract/token-parameters.ts';
import { parseUrl } from '../platform/address.ts';
import { ownProperties } from '../platform/untrusted.ts';

/** The parts of a token request that say which token is requested. */
export interface Asked {
  /**
   * The name of the token in the record: the audience. If more is requested, the query of the token
   * endpoint and a line for each parameter follow, and without an audience the first line is empty.
   * No value has a line end, and no parameter begins with a question mark, so no two requests have
   * one name.
   */
  readonly tokenName: string;
  /** The scopes as they are sent. Empty: none. */
  readonly scope: string;
  readonly parameters: TokenParameters;
}

/** Reads from checked options which token is requested. */
export function resolveParameters({
  tokenEndpoint = '',
  audience,
  scope,
  resource,
  parameters,
}: Pick<ServiceAuthOptions, 'tokenEndpoint' | Exclude<keyof TokenOptions, 'baseUrl'>>): Asked {
  const scopes = [scope ?? []].flat().join(' ');
  const rest: TokenParameters = [
    ...unique([resource ?? []].flat()).map((uri) => ['resource', uri] as const),
    ...Object.entries(parameters ?? {}).sort(),
  ];
  const asked = [['scope', scopes] as const, ...rest].filter(([, value]) => value);
  const query = parseUrl(`${tokenEndpoint}`)?.search;
  const distinct = [['scope', unique(scopes.split(' ')).join(' ')] as const, ...rest].filter(([, value]) => value);
  const lines = [...(query ? [query] : []), ...distinct.map((line) => line.join('='))];
  const name = [audience, ...lines, ''].join('\n');
  return {
    tokenName: audience && lines.length === 0 ? audience : name,
    scope: scopes,
    parameters: [
      ...(audience ? [['audience', audience] as const] : []),
      ['grant_type', 'client_credentials'],
      ...asked,
    ],
  };
}

/** The parameters that have an option of their own, and the type of the grant. */
const named: Readonly<Record<Exclude<keyof TokenOptions, 'baseUrl' | 'parameters'> | 'grant_type', true>> = {
  audience: true,
  grant_type: true,
  scope: true,
  resource: true,
};

/** Returns the options from which `resolveParameters` made these parameters. */
export function optionsOf(parameters: TokenParameters): TokenOptions {
  const valuesOf = (option: string) => parameters.filter(([name]) => name === option).map(([, value]) => value);
  const [audience] = valuesOf('audience');
  const [scope] = valuesOf('scope');
  const resource = valuesOf('resource');
  const further = Object.fromEntries(parameters.filter(([name]) => !Object.hasOwn(named, name)));
  return { audience, scope, resource: resource.length > 0 ? resource : undefined, parameters: further };
}

const noHeaders: Readonly<Record<string, string>> = Object.freeze(ownProperties({}));

/** Copies checked headers, with names in lower case. */
export function resolveHeaders(headers: ServiceAuthOptions['headers']): Readonly<Record<string, string>> {
  if (headers === undefined) return noHeaders;
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.freeze(ownProperties(Object.fromEntries(named) as Record<string, string>));
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
