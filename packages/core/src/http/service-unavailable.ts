import { isServiceAuthError } from '../contract/errors.ts';
import { ownProperty } from '../platform/untrusted.ts';

/** An answer of your application. It is also a `ResponseInit`. */
export interface ServiceUnavailable {
  readonly status: 503;
  /**
   * `retry-after` in whole seconds, at least 1 (RFC 9110 section 10.2.3). Without it no time is
   * known.
   */
  readonly headers: Readonly<Record<string, string>>;
}

const maxCauses = 5;

/**
 * Returns the answer for the users of your application, if `error` is an error of Service Auth or
 * was caused by one, as the errors of got and of undici's fetch can be. Returns undefined for every
 * other error, and for `ERR_CONFIG`, which is a mistake in your application. `ERR_CLOSED` has no
 * `Retry-After`: a closed client stays closed. Your users need not know that a token is missing:
 * show them no message of the error.
 */
export function serviceUnavailable(error: unknown): ServiceUnavailable | undefined {
  let found = error;
  for (let depth = 0; depth < maxCauses && !isServiceAuthError(found); depth += 1) found = ownProperty(found, 'cause');
  // Wrong options are a mistake of the application. Nobody would find it behind a 503.
  if (!isServiceAuthError(found) || found.code === 'ERR_CONFIG') return undefined;
  const { retryAt } = found;
  if (retryAt === undefined) return { status: 503, headers: {} };
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000));
  return { status: 503, headers: { 'retry-after': `${seconds}` } };
}
