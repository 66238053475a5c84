import { type ServiceAuthError, serviceAuthError } from '../contract/errors.ts';

/** Renewals that 401s cause are at least this far apart. */
const renewalsApartMs = 60_000;

/**
 * Creates the reason of a 401 that an adapter passes on: the API rejected the token that was sent. An adapter whose client throws an error for a 401
 * sets it as the `cause` of that error, so that `serviceUnavailable()` recognises it.
 */
export function tokenRejected(): ServiceAuthError {
  const retryAt = Date.now() + renewalsApartMs;
  const message = `The API answered 401 to the token. Try again at ${new Date(retryAt).toISOString()}.`;
  return serviceAuthError('ERR_TOKEN_REJECTED', message, { retryAt });
}
