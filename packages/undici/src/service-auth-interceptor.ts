import type { TokenSource } from '@service-auth/core';
import type { Dispatcher } from 'undici';
import { AuthenticatedRequest } from './authenticated-request.ts';
import type { Handler } from './recording.ts';
import { hasAuthorization, readHeaders, urlOf } from './request.ts';

/**
 * An interceptor for `compose()`: requests that `auth.covers()` carry the token of `auth`, and are sent once more if the API answers 401 and
 * another token is available. All others, and those with an `Authorization` of their own, are passed on as they are.
 *
 * List it before `interceptors.redirect()`, so that each redirect is judged anew, and after `interceptors.cache()`. Listed after `redirect()`,
 * the token follows redirects within its origin, and a 401 after one is not sent again.
 */
export function serviceAuthInterceptor(auth: TokenSource): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    if (!auth.covers(urlOf(options))) return dispatch(options, handler);
    const headers = readHeaders(options.headers);
    if (hasAuthorization(headers)) return dispatch({ ...options, headers: headers ?? null }, handler);
    new AuthenticatedRequest(auth, dispatch, options, headers, handler as Handler).start();
    return true;
  };
}
