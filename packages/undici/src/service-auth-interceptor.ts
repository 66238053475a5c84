import type { AccessToken, TokenSource } from '@service-auth/core';
import type { Dispatcher } from 'undici';
import type { Handler } from './recording.ts';
import { fail, RejectionHandler } from './rejection-handler.ts';
import { hasAuthorization, isReplayable, readHeaders, signalOf, urlOf, withToken } from './request.ts';

/**
 * An interceptor for `compose()`: requests to where `auth.covers()` allows it carry the token of `auth`, and are sent once more if the API
 * answers 401 and another token is to be had. All others, and those with an `Authorization` of their own, are passed on as they are.
 *
 * List it before `interceptors.redirect()`, so that each redirect is judged anew. Listed after it, the token follows redirects within its origin.
 */
export function serviceAuthInterceptor(auth: TokenSource): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    if (!auth.covers(urlOf(options))) return dispatch(options, handler);
    const headers = readHeaders(options.headers) ?? null;
    const request = { ...options, headers };
    if (hasAuthorization(headers)) return dispatch(request, handler);
    const patience = { signal: signalOf(options) };
    const caller = handler as Handler;

    function send(token: AccessToken, mayResend: boolean): void {
      async function decide(visited: readonly URL[]): Promise<(() => void) | undefined> {
        // On the way through a foreign host the token was left behind: then this says nothing about it.
        if (!visited.every((url) => auth.covers(url))) return undefined;
        await auth.invalidate(token);
        // After a redirect, this request is not the one that was rejected.
        if (!mayResend || visited.length > 1 || !isReplayable(request.body)) return undefined;
        const next = await auth.getToken(patience);
        return next.authorization === token.authorization ? undefined : () => send(next, false);
      }
      request.headers = withToken(headers, token);
      try {
        dispatch(request, new RejectionHandler(caller, decide) as Dispatcher.DispatchHandler);
      } catch (error) {
        fail(caller, error);
      }
    }

    auth.getToken(patience).then(
      (token) => send(token, true),
      (error) => fail(caller, error),
    );
    return true;
  };
}
