import type { ServiceAuthOptions } from '../contract/options.ts';
import type { TokenParameters } from '../contract/token-parameters.ts';

/** What a client asks for. */
export interface Asked {
  /**
   * The name of the token in the record: the audience, if nothing else is asked for. If more is, a line for each parameter follows; then the first line is empty
   * without an audience. No value has a line end, so no two requests have one name.
   */
  readonly audience: string;
  /** The scopes as they are sent. Empty: none. */
  readonly scope: string;
  readonly parameters: TokenParameters;
}

/** Reads what is asked for from checked options. */
export function resolveParameters({ audience, scope, resource, parameters }: Partial<ServiceAuthOptions>): Asked {
  const scopes = [scope ?? []].flat().join(' ');
  const rest: TokenParameters = [
    ...unique([resource ?? []].flat()).map((uri) => ['resource', uri] as const),
    ...Object.entries(parameters ?? {}).sort(),
  ];
  const asked = [['scope', scopes] as const, ...rest].filter(([, value]) => value);
  const lines = [['scope', unique(scopes.split(' ')).join(' ')] as const, ...rest].filter(([, value]) => value);
  const name = [audience, ...lines.map((line) => line.join('=')), ''].join('\n');
  return {
    audience: audience && lines.length === 0 ? audience : name,
    scope: scopes,
    parameters: [
      ...(audience ? [['audience', audience] as const] : []),
      ['grant_type', 'client_credentials'],
      ...asked,
    ],
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
