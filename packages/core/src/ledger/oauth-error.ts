import type { Hint } from './record.ts';

/**
 * The error codes that an authorization server may answer at its token endpoint: RFC 6749 sections
 * 4.1.2.1 and 5.2, RFC 8628, RFC 8707, RFC 9396 and RFC 9449 (IANA, OAuth Extensions Error
 * Registry).
 */
const registered = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  'invalid_target',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'invalid_authorization_details',
  'invalid_dpop_proof',
  'use_dpop_nonce',
] as const;

/**
 * The `error` code of a rejected token request: a registered code, or `'other'` (RFC 6749 section
 * 5.2).
 */
export type OAuthErrorCode = (typeof registered)[number] | 'other';

/**
 * Returns a registered code unchanged and `'other'` for anything else. An unregistered code may be
 * any text, even the secret.
 */
export function oauthErrorCode(text: unknown): OAuthErrorCode {
  return registered.find((code) => code === text) ?? 'other';
}

/**
 * Returns whether this code says that the authorization server is out of order, and not that it
 * refuses the request (RFC 6749 section 4.1.2.1).
 */
export function isOutageCode(code: string | undefined): boolean {
  return code === 'server_error' || code === 'temporarily_unavailable';
}

/**
 * The answer of the token endpoint to a refused request. `code`: the `error` of an authorization
 * server.
 */
export type Answered = Pick<Hint, 'status' | 'code'>;

/**
 * Returns whether an authorization server refused the credentials. A 400 or 403 without its JSON
 * (RFC 6749 section 5.2) comes from something in front of it.
 */
export function isOfCredentials({ status = 0, code }: Answered): boolean {
  const isOfServer = (status >= 200 && status < 300) || status === 400 || status === 403;
  return status === 401 || (isOfServer && code !== undefined);
}

/**
 * Returns whether a refusal is about the client, and so about all its tokens. If not, it is about
 * one token.
 */
export function isAboutClient({ status, code }: Answered): boolean {
  return status === 401 || code === 'invalid_client' || code === 'unauthorized_client';
}
