import type { TokenResponseReason } from '../contract/errors.ts';
import type { TokenResponseWarning } from '../contract/events.ts';
import { maxLifetimeMs } from '../ledger/record.ts';
import { fromBase64Url } from '../platform/bytes.ts';
import { ownProperty } from '../platform/untrusted.ts';

/** A token as the token endpoint sent it. */
export interface IssuedToken {
  readonly value: string;
  /** The lifetime in milliseconds. It counts from the moment before the request was sent. */
  readonly lifetimeMs: number;
  readonly warnings: readonly TokenResponseWarning[];
  /**
   * The requested scopes that the answer leaves out, joined by spaces. Undefined: it leaves out
   * none, or doesn't say.
   */
  readonly missingScope?: string | undefined;
}

/** The properties that a client expects of a token. */
export interface ExpectedToken {
  /**
   * The accepted values of `token_type` besides `bearer`, in lower case, joined by commas. Default:
   * none.
   */
  readonly tokenTypes?: string;
  /**
   * The lifetime of a token whose answer states none, and the longest accepted one. Default 24
   * hours, or that of a JWT.
   */
  readonly lifetimeMs?: number | undefined;
  /** The requested scopes. Default: none. */
  readonly scope?: string;
}

const maxLifetimeSeconds = maxLifetimeMs / 1_000;
const daySeconds = 86_400;
// Visible ASCII: what an authorization server may issue (RFC 6749 appendix A.12) and a header can
// carry unchanged.
const visible = /^[!-~]+$/;
const maxTokenLength = 16_384;

/**
 * Reads the body of a 2xx answer (RFC 6749 section 5.1; the service's interface, token response
 * body). If it is no bearer token, returns the reason. `now`: when it arrived, in epoch
 * milliseconds.
 */
export function readTokenResponse(
  body: string,
  contentType: string,
  { tokenTypes = '', lifetimeMs, scope = '' }: ExpectedToken = {},
  now?: number,
): IssuedToken | TokenResponseReason {
  const json = body.replace(/^\uFEFF/, '').trim();
  if (json === '') return 'empty';
  const response = parseObject(json);
  if (!response) return 'not_json';

  const value = ownProperty(response, 'access_token');
  if (typeof value !== 'string' || value.length > maxTokenLength || !visible.test(value)) return 'access_token';

  const warnings: TokenResponseWarning[] = [];
  const type = ownProperty(response, 'token_type');
  if (type === undefined) warnings.push('token_type_missing');
  else if (typeof type !== 'string' || !['bearer', ...tokenTypes.split(',')].includes(type.toLowerCase() || ' '))
    return 'token_type';
  if (!/^application\/([\w.-]+\+)?json\b/i.test(contentType)) warnings.push('content_type');

  const stated = seconds(ownProperty(response, 'expires_in'));
  if (stated !== undefined && stated < 1) return 'expires_in';
  const claimed = lifetimeOfJwt(value, now);
  const assumed = lifetimeMs === undefined ? undefined : lifetimeMs / 1_000;
  if ((stated ?? claimed ?? assumed) === undefined) warnings.push('lifetime_assumed');
  const expected = stated ?? assumed ?? claimed ?? daySeconds;
  const lifetime = Math.min(expected, claimed ?? maxLifetimeSeconds, assumed ?? maxLifetimeSeconds, maxLifetimeSeconds);
  if ((stated ?? 0) > maxLifetimeSeconds) warnings.push('lifetime_clamped');
  if (lifetime < 120) warnings.push('lifetime_short');
  const missingScope = missingFrom(ownProperty(response, 'scope'), scope);
  if (missingScope) warnings.push('scope_missing');
  return { value, lifetimeMs: Math.round(lifetime * 1_000), warnings, ...(missingScope && { missingScope }) };
}

/**
 * Returns the scopes that an answer leaves out (RFC 6749 section 5.1). Some servers separate them
 * by commas, or send a list.
 */
function missingFrom(granted: unknown, asked: string): string {
  if (granted === undefined) return '';
  const names = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const known = new Set(names([granted].flat().join(' ')));
  return names(asked)
    .filter((name) => !known.has(name))
    .join(' ');
}

/**
 * Reads a number of seconds, which may be written as a string. Undefined: it is no number. Zero and
 * negative numbers are returned.
 */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.floor(number) : undefined;
}

/**
 * Returns `exp - iat` in seconds if that is a minute to 31 days. The difference is used, because
 * the issuer's clock may differ from ours. Without `iat`, `exp` is compared with the present.
 */
function lifetimeOfJwt(token: string, now = Number.NaN): number | undefined {
  const payload = token.split('.', 3)[1];
  if (payload === undefined) return undefined;
  try {
    const claims = parseObject(fromBase64Url(payload));
    const lifetime = Number(ownProperty(claims, 'exp')) - Number(ownProperty(claims, 'iat') ?? now / 1_000);
    return lifetime >= 60 && lifetime <= maxLifetimeSeconds ? Math.floor(lifetime) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the `token_type` of a body that has another one than expected, for a message. Undefined:
 * it has too many words, or is a part of the token.
 */
export function readTokenType(body: string): string | undefined {
  const response = parseObject(body);
  const type = ownProperty(response, 'token_type');
  const value = `${ownProperty(response, 'access_token')}`;
  const isNameable = typeof type === 'string' && /^[a-z][a-z _.:-]{0,63}$/i.test(type);
  return isNameable && !value.includes(type) && !type.includes(value) ? type : undefined;
}

/** Returns the object that a text of JSON has. Undefined: the text has none. */
export function parseObject(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json.replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
