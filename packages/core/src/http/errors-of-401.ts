// The errors that an adapter sets as the `cause` of its client's error for a 401.
import { type ServiceAuthError, serviceAuthError } from '../contract/errors.ts';

/**
 * Creates the reason of an answer that rejects the token. By it `serviceUnavailable()` recognises
 * the error. It has no `retryAt`: only the client knows the next renewal.
 */
export function tokenRejected(): ServiceAuthError {
  const message = 'The API rejected the token. Find out why; renewals after that are 1, 2, 4 … 60 minutes apart.';
  return serviceAuthError('ERR_TOKEN_REJECTED', message, { retryAt: undefined });
}

/**
 * Creates the reason of a 401 to a request whose URL no client covers. The message has the URL
 * without credentials, query and fragment.
 */
export function tokenNotSent(url: string | URL): Error {
  return new Error(
    `[service-auth] No token was sent to ${printable(url)}: no attached client covers it. ` +
      'The option baseUrl of createServiceAuth, or SERVICE_BASE_URL, has to be the address of the API.',
  );
}

/**
 * Creates the reason of a 401 to a request that had an `Authorization` of its own. It is no
 * ServiceAuthError, because waiting does not help.
 */
export function tokenBypassed(): Error {
  return new Error(
    '[service-auth] The request had an Authorization of its own, so it was sent without the token. ' +
      'Remove the interceptor or default header that sets it.',
  );
}

function printable(url: string | URL): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'that URL';
  }
}
