import type { Report } from '../contract/config-problems.ts';
import { isReserved, type TokenAddress } from '../contract/token-parameters.ts';
import { parseAddress } from '../platform/address.ts';
import { ambiguityOf, endpointName, tokenEndpointOf } from './url-scope.ts';

/** The addresses by which a client knows its authorization server. */
export interface ServerAddress {
  authUrl?: string | URL | undefined;
  tokenEndpoint?: string | URL | undefined;
  issuer?: string | undefined;
}

/** Checks the addresses. `canSend`: whether tokens are requested, which needs more than the issuer. Undefined: there is a problem. */
export function resolveTokenAddress(
  { authUrl, tokenEndpoint, issuer }: ServerAddress,
  allowInsecureHttp: boolean,
  canSend: boolean,
  report: Report,
): TokenAddress | undefined {
  let isSound = true;
  const check: Report = (option, problem) => {
    if (problem !== undefined) isSound = false;
    report(option, problem);
  };
  const named = (
    option: string,
    value: unknown,
    mayHaveQuery: boolean,
    problemOf: (url: URL) => string | undefined,
  ) => {
    const url = parseAddress(value, allowInsecureHttp, mayHaveQuery);
    check(option, typeof url === 'string' ? url : (ambiguityOf(url) ?? problemOf(url)));
    return url as URL;
  };
  if (authUrl !== undefined && tokenEndpoint !== undefined) check('tokenEndpoint', 'must not be given with authUrl');
  const server = issuer === undefined ? undefined : named('issuer', issuer, false, () => problemOfIssuer(issuer));
  let url: URL | undefined;
  if (tokenEndpoint !== undefined) url = named('tokenEndpoint', tokenEndpoint, true, problemOfQuery);
  else if (authUrl !== undefined || canSend || !server) url = named('authUrl', authUrl, false, repetitionIn);
  if (!isSound) return undefined;
  const tokenUrl = url && (tokenEndpoint === undefined ? tokenEndpointOf(url) : url.href);
  return { tokenUrl: tokenUrl ?? '', endpoint: endpointName(server ?? new URL(tokenUrl as string)) };
}

function problemOfIssuer(issuer: unknown): string | undefined {
  return typeof issuer === 'string' ? undefined : 'must be a string, as the server writes it';
}

function problemOfQuery({ searchParams }: URL): string | undefined {
  return [...searchParams.keys()].some(isReserved)
    ? 'must not contain parameters of the token request in its query'
    : undefined;
}

function repetitionIn({ pathname }: URL): string | undefined {
  return /\/oauth\/token\/*$/.test(pathname) ? 'must end before /oauth/token, which is added to it' : undefined;
}
