import { configError } from '../contract/config-problems.ts';
import { serviceAuthError } from '../contract/errors.ts';
import { parseAddress } from '../platform/address.ts';
import { describeError, ownProperty } from '../platform/untrusted.ts';

/** The facts that an authorization server publishes about its token endpoint. */
export interface DiscoveredTokenEndpoint {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** The address for clients with a certificate (RFC 8705 section 5). */
  readonly mtlsTokenEndpoint?: string;
  /** The kinds of client authentication that it has, such as `client_secret_basic`. */
  readonly clientAuthenticationMethods?: readonly string[];
}

const timeoutMs = 10_000;

/**
 * Reads the metadata of an authorization server (RFC 8414 section 3, or else OpenID Connect
 * Discovery 1.0 section 4). For setting up: no client calls it, and a program that called it at
 * each start could not start while the server is down. `issuer`: as the server writes it.
 * @throws `ERR_CONFIG` if there is no metadata, or if it is that of another issuer;
 * `ERR_TOKEN_ENDPOINT` if the server could not be reached
 */
export async function discoverTokenEndpoint(issuer: string): Promise<DiscoveredTokenEndpoint> {
  const address = parseAddress(issuer, false);
  if (typeof address === 'string') throw wrong(address);
  const path = address.pathname.replace(/\/+$/, '');
  const places = [
    `${address.origin}/.well-known/oauth-authorization-server${path}`,
    `${address.origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const metadata = await read(place);
    if (metadata) return checked(metadata, issuer);
  }
  throw wrong('has no metadata (RFC 8414, or OpenID Connect Discovery): look up its token endpoint');
}

/** Reads the metadata at an address. Undefined: there is none. */
async function read(url: string): Promise<unknown> {
  try {
    const headers = { accept: 'application/json' };
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    if (response.status >= 500) throw unreachable(`answered ${response.status}`, response.status);
    return response.status === 200 ? parsed(text) : undefined;
  } catch (error) {
    if (ownProperty(error, 'code') === 'ERR_TOKEN_ENDPOINT') throw error;
    throw unreachable(`could not be reached (${describeError(error)})`, undefined);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checked(metadata: unknown, issuer: string): DiscoveredTokenEndpoint {
  // An answer for another issuer could make the client send its credentials elsewhere (RFC 8414
  // section 3.3).
  if (ownProperty(metadata, 'issuer') !== issuer)
    throw wrong('is not the issuer that its metadata names: write it as the server does, up to the slash at its end');
  const tokenEndpoint = ownProperty(metadata, 'token_endpoint');
  if (!isAddress(tokenEndpoint)) throw wrong('has metadata without a token endpoint');
  const mtlsTokenEndpoint = ownProperty(ownProperty(metadata, 'mtls_endpoint_aliases'), 'token_endpoint');
  const methods = ownProperty(metadata, 'token_endpoint_auth_methods_supported');
  return {
    issuer,
    tokenEndpoint,
    ...(isAddress(mtlsTokenEndpoint) && { mtlsTokenEndpoint }),
    ...(Array.isArray(methods) && { clientAuthenticationMethods: methods.filter((name) => typeof name === 'string') }),
  };
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && typeof parseAddress(value.replace(/\?.*$/s, ''), false) !== 'string';
}

function wrong(message: string): Error {
  return configError([{ option: 'issuer', message }]);
}

function unreachable(what: string, endpointStatus: number | undefined): Error {
  const message = `The metadata of the authorization server ${what}. Check the issuer and try again.`;
  return serviceAuthError('ERR_TOKEN_ENDPOINT', message, { endpointStatus, ambiguous: false, retryAt: Date.now() });
}
