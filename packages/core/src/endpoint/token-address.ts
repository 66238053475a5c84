import type { Report } from '../contract/config-problems.ts';
import type { TokenAddress } from '../contract/token-parameters.ts';
import { parseAddress } from '../platform/address.ts';
import { ambiguityOf, endpointName, tokenEndpointOf } from './url-scope.ts';

/** The addresses by which a client knows its authorization server. */
export interface ServerAddress {
  authUrl?: string | URL | undefined;
  tokenEndpoint?: string | URL | undefined;
  issuer?: string | undefined;
}

/**
 * Checks the addresses. `canSend`: true if tokens are requested, which needs more than the issuer.
 * Undefined: there is a problem.
 */
export function resolveTokenAddress(
  { authUrl, tokenEndpoint, issuer }: ServerAddress,
  allowInsecureHttp: boolean,
  canSend: boolean,
  report: Report,
): TokenAddress | undefined {
  const parsed = (
    option: string,
    value: unknown,
    mayHaveQuery = false,
    problemOf = (_: URL): string | undefined => undefined,
  ) => {
    const url = parseAddress(value, allowInsecureHttp, mayHaveQuery);
    const problem = typeof url === 'string' ? url : (ambiguityOf(url) ?? problemOf(url));
    report(option, problem);
    return problem === undefined ? (url as URL) : undefined;
  };
  if (authUrl !== undefined && tokenEndpoint !== undefined)
    report('tokenEndpoint', 'must not be given with authUrl (SERVICE_AUTH_URL)');
  if (issuer !== undefined && typeof issuer !== 'string') report('issuer', 'must be a string');
  const server = typeof issuer === 'string' ? parsed('issuer', issuer) : undefined;
  if (server && !canSend && (authUrl ?? tokenEndpoint) === undefined)
    return { addressedBy: 'issuer', tokenUrl: '', endpoint: endpointName(server) };
  const url =
    tokenEndpoint === undefined
      ? parsed('authUrl', authUrl, false, repetitionIn)
      : parsed('tokenEndpoint', tokenEndpoint, true);
  if (!url || (issuer !== undefined && !server)) return undefined;
  const addressedBy = tokenEndpoint === undefined ? 'authUrl' : 'tokenEndpoint';
  const tokenUrl = addressedBy === 'authUrl' ? tokenEndpointOf(url) : url.href;
  return { addressedBy, tokenUrl, endpoint: endpointName(server ?? new URL(tokenUrl)) };
}

function repetitionIn({ pathname }: URL): string | undefined {
  return /\/oauth\/token\/*$/.test(pathname) ? 'must end before /oauth/token, which is added to it' : undefined;
}
