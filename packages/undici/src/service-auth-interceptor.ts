import type { TokenSource } from '@service-auth/core';
import { checkIsRejected, checkTokenSource, hasAuthorization } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import { coverageOf } from './coverage.ts';
import { Exchange } from './exchange.ts';
import { isIterable, readHeaders } from './headers.ts';
import type { ServiceAuthInterceptorOptions } from './options.ts';
import type { Handler } from './recording.ts';

/**
 * An interceptor for `compose()`. It adds the token of `auth` to every request whose URL `auth.covers()`, and sends it once more if the API answers
 * 401 and another token is available. Other requests, and requests with their own `Authorization`, are passed on unchanged.
 *
 * List it before `interceptors.redirect()`, so that every redirect is checked, and before `interceptors.cache()`, which would store the token
 * otherwise. If it is listed after `redirect()`, the token follows redirects within its origin, and a request that was redirected is not sent
 * again after a 401.
 * @throws TypeError if `auth` is no client or has no `baseUrl`, or if `isRejected` is no function
 */
export function serviceAuthInterceptor(
  auth: TokenSource,
  { isRejected }: ServiceAuthInterceptorOptions = {},
): Dispatcher.DispatcherComposeInterceptor {
  checkTokenSource(auth, 'undici');
  checkIsRejected(isRejected, 'undici');
  const covers = coverageOf(auth);
  return (dispatch) => (options, handler) => {
    // Headers of a wrong type are left to undici, which says what is wrong with them.
    const isUsable = typeof (options.headers ?? {}) === 'object';
    if (!isUsable || !covers(options)) return dispatch(options, handler);
    const headers = readHeaders(options.headers);
    // undici itself says what is wrong with headers that are no pairs.
    if (isIterable(headers) || hasAuthorization(headers, auth))
      return dispatch({ ...options, headers: headers ?? null }, handler);
    return new Exchange({ auth, isRejected }, dispatch, options, headers, handler as Handler).start();
  };
}
