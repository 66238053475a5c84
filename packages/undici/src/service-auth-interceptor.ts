import type { TokenSource } from '@service-auth/core';
import { checkIsRejected, checkTokenSource, hasAuthorization } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import { coverageOf } from './coverage.ts';
import { Exchange } from './exchange.ts';
import { fieldsOf, isIterable } from './headers.ts';
import type { IsRejected } from './judge.ts';
import type { Handler } from './recording.ts';

/** Options of {@link serviceAuthInterceptor}. */
export interface ServiceAuthInterceptorOptions {
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403
   * or 400. Such an answer is treated as a 401 is by default, and no other answer is, not even a
   * 401. The function is asked only about requests that had the token. The names of the headers are
   * in lower case. The request fails with what the function throws or rejects with. Default: the
   * status is 401.
   */
  readonly isRejected?: IsRejected | undefined;
}

/**
 * An interceptor for `compose()`. It adds the token of `auth` to every request whose URL
 * `auth.covers()`, and sends the request once more if the API answers 401 and another token is
 * available. Other requests, and requests with their own `Authorization`, are passed on unchanged.
 *
 * List it before `interceptors.redirect()`, so that every redirect is checked, and before
 * `interceptors.cache()`, which would store the token otherwise. If it is listed after
 * `redirect()`, the token follows redirects within its origin, and a request that was redirected is
 * not sent again after a 401.
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
    // undici says what is wrong with headers of another type.
    const isUsable = typeof (options.headers ?? {}) === 'object';
    if (!isUsable || !covers(options)) return dispatch(options, handler);
    const headers = fieldsOf(options.headers);
    // undici says what is wrong with headers that are no pairs, too.
    if (isIterable(headers) || hasAuthorization(headers, auth))
      return dispatch({ ...options, headers: headers ?? null }, handler);
    return new Exchange({ auth, isRejected, dispatch, options, headers }, handler as Handler).start();
  };
}
