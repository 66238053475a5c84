import type { TokenResponseReason } from '../contract/errors.ts';
import type { TokenResponseWarning } from '../contract/events.ts';
import { type OAuthErrorCode, oauthErrorCode } from '../ledger/oauth-error.ts';
import { maxLifetimeMs } from '../ledger/record.ts';
import { ownProperty } from '../platform/untrusted.ts';

/** A token as the token endpoint sent it. */
export interface IssuedToken {
  readonly value: string;
  /** The lifetime in milliseconds. It counts from the moment before the request was sent. */
  readonly lifetimeMs: number;
  readonly warnings: readonly TokenResponseWarning[];
}

const maxLifetimeSeconds = maxLifetimeMs / 1_000;
// RFC 6750 section 2.1. A header cannot contain any other text unchanged.
const bearer = /^[A-Za-z0-9\-._~+/]+=*$/;
const maxTokenLength = 16_384;

/** Reads the body of a 2xx answer (RFC 6749 section 5.1; the service's interface, token response body). Returns why it is no bearer token, if it is none. */
export function readTokenResponse(body: string, contentType: string): IssuedToken | TokenResponseReason {
  const json = body.replace(/^\uFEFF/, '').trim();
  if (json === '') return 'empty';
  const response = parseObject(json);
  if (!response) return 'not_json';

  const value = ownProperty(response, 'access_token');
  if (typeof value !== 'string' || value.length > maxTokenLength || !bearer.test(value)) return 'access_token';

  const warnings: TokenResponseWarning[] = [];
  const type = ownProperty(response, 'token_type');
  if (type === undefined) warnings.push('token_type_missing');
  else if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return 'token_type';
  if (!/^application\/([\w.-]+\+)?json\b/i.test(contentType)) warnings.push('content_type');

  const stated = seconds(ownProperty(response, 'expires_in'));
  if (stated !== undefined && stated < 1) return 'expires_in';
  const claimed = lifetimeOfJwt(value);
  if (stated === undefined && claimed === undefined) warnings.push('lifetime_assumed');
  const lifetime = Math.min(stated ?? claimed ?? 3_600, claimed ?? maxLifetimeSeconds, maxLifetimeSeconds);
  if ((stated ?? 0) > maxLifetimeSeconds) warnings.push('lifetime_clamped');
  if (lifetime < 120) warnings.push('lifetime_short');
  return { value, lifetimeMs: lifetime * 1_000, warnings };
}

/** Reads a number of seconds, which may be a string of digits. Undefined: it is no number. Zero and negative numbers are returned. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.floor(number) : undefined;
}

/** Returns `exp - iat` in seconds if that is a minute to 7 days. Only the difference is used, because the issuer's clock may differ from ours. */
function lifetimeOfJwt(token: string): number | undefined {
  const payload = token.split('.', 3)[1];
  if (payload === undefined) return undefined;
  try {
    const claims = parseObject(atob(payload.replace(/-/g, '+').replace(/_/g, '/')));
    const lifetime = Number(ownProperty(claims, 'exp')) - Number(ownProperty(claims, 'iat'));
    return lifetime >= 60 && lifetime <= maxLifetimeSeconds ? Math.floor(lifetime) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the `error` code of an error response (RFC 6749 section 5.2). Nothing else of it is kept, because it may contain the secret. */
export function readOAuthError(body: string): OAuthErrorCode | undefined {
  const error = ownProperty(parseObject(body), 'error');
  return typeof error === 'string' ? oauthErrorCode(error) : undefined;
}

function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
