import { type AnyServiceAuthError, isServiceAuthError } from '../contract/errors.ts';

/**
 * Returns whether `error` says that `maxWaitMs` of `getToken()` has passed. An adapter that passes
 * the time-out of its client rejects with the client's own error then, and with `error` as the
 * `cause`, which says what the request waited for.
 */
export function isTokenPending(error: unknown): error is AnyServiceAuthError & { readonly code: 'ERR_TOKEN_PENDING' } {
  return isServiceAuthError(error) && error.code === 'ERR_TOKEN_PENDING';
}
