import type { AccessToken, TokenSource } from '@service-auth/core';
import { isReplayable, replaceRejected } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import type { Handler } from './recording.ts';
import { fail, RejectionHandler } from './rejection-handler.ts';
import { hasAuthorization, readHeaders, signalOf, urlOf, withToken } from './request.ts';

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
    const headers = readHeaders(options.headers) ?? null;
    const request = { ...options, headers };
    if (hasAuthorization(headers)) return dispatch(request, handler);
    const waiting = { signal: signalOf(options) };
    const caller = handler as Handler;

    function send(token: AccessToken, mayResend: boolean): void {
      async function decide(visited: readonly URL[]): Promise<(() => void) | undefined> {
        // On the way through a foreign host the token was left behind: then this says nothing about it.
        if (!visited.every((url) => auth.covers(url))) return undefined;
        // After a redirect, this is not the request that was rejected.
        const canResend = mayResend && visited.length < 2 && isReplayable(request.body);
        const next = await replaceRejected(auth, token, { ...waiting, canResend });
        return next && (() => send(next, false));
      }
      request.headers = withToken(headers, token);
      try {
        dispatch(request, new RejectionHandler(caller, decide) as Dispatcher.DispatchHandler);
      } catch (error) {
        fail(caller, error);
      }
    }

    auth.getToken(waiting).then(
      (token) => send(token, true),
      (error) => fail(caller, error),
    );
    return true;
  };
}
