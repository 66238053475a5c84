import { problemOfText, type Report } from '../contract/config-problems.ts';
import type { ServiceAuthOptions } from '../contract/options.ts';
import { isReserved, type TokenParameters, tokenNameOf } from '../contract/token-parameters.ts';
import { ownProperties } from '../platform/untrusted.ts';

/** What a client asks for. */
export interface Asked {
  /** The name of the token in the record. */
  readonly audience: string;
  /** The scopes as they are sent. Empty: none. */
  readonly scope: string;
  readonly parameters: TokenParameters;
}

/** Checks what is asked for. `isRequired`: whether that must be an audience. */
export function resolveParameters(
  { audience, scope, resource, parameters }: Partial<ServiceAuthOptions>,
  isRequired: boolean,
  report: Report,
): Asked {
  if (isRequired || audience !== undefined) report('audience', problemOfText(audience, 512));

  const scopes = listOf(scope).join(' ');
  if (scope !== undefined && !(scopes.length <= 4_096 && /^[!#-[\]-~]+( [!#-[\]-~]+)*$/.test(scopes)))
    report(
      'scope',
      'must be names with one space between them, or a list of names: at most 4,096 characters of ASCII without quotes and backslashes',
    );

  const resources = listOf(resource);
  if (resource !== undefined && !(resources[0] && resources.every((uri) => /^[a-z][a-z\d+.-]*:[!"$-~]+$/i.test(uri))))
    report('resource', 'must be an absolute URI without a fragment, or a list of them');

  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  if (parameters !== undefined && !isObject) report('parameters', 'must be an object of names and values');
  const others = isObject ? Object.entries(ownProperties(parameters)).sort() : [];
  for (const [name, value] of others) {
    const isName = /^[\w.-]+$/.test(name) && !isReserved(name);
    report(
      `parameters.${name}`,
      isName
        ? problemOfText(value, 4_096)
        : 'must not be given: it is set by another option, is no name, or would be a secret in the record',
    );
  }

  const sorted = [...new Set(scopes.split(' '))].sort().join(' ');
  const rest: TokenParameters = [...[...new Set(resources)].sort().map((uri) => ['resource', uri] as const), ...others];
  const name = tokenNameOf(audience, scopes ? [['scope', sorted], ...rest] : rest);
  if (name.length > 16_384) report('parameters', 'must be at most 16,384 characters with all else that is asked for');
  return {
    audience: name,
    scope: scopes,
    parameters: [
      ...(audience === undefined ? [] : [['audience', audience] as const]),
      ['grant_type', 'client_credentials'],
      ...(scopes ? [['scope', scopes] as const] : []),
      ...rest,
    ],
  };
}

/** A list of texts, or one text. What is no text becomes one that is refused. */
function listOf(value: unknown): string[] {
  return [value ?? []].flat().map((part) => (typeof part === 'string' ? part : ''));
}
