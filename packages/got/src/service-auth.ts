import type { AccessToken, TokenSource } from '@service-auth/core';
import {
  checkTokenSource,
  hideAgentRequests,
  ownProperties,
  replaceRejected,
  tokenRejected,
} from '@service-auth/core/http';
import type {
  AfterResponseHook,
  BeforeErrorHook,
  BeforeRequestHook,
  ExtendOptions,
  HandlerFunction,
  Options,
  OptionsInit,
  Request,
  Response,
} from 'got';
import { rememberForm, replayOf } from './body.ts';

/** Options of {@link serviceAuth}. */
export interface ServiceAuthGotOptions {
  /** True removes the `Authorization` header from the `options` of got's errors, where printing an error would show it. Default true. */
  readonly scrubErrors?: boolean | undefined;
}

/** The result of {@link serviceAuth}, for `got.extend()`. It has no other options, because got infers the return type of requests from them. */
export type ServiceAuthGotExtension = Required<Pick<ExtendOptions, 'handlers' | 'hooks'>>;

// The number of sent tokens that are remembered as our own. A request does not last longer than so many renewals.
const knownTokens = 8;
const resent = 'serviceAuthSent';

type Shown = Pick<Options, 'headers'>;
type Cancelable = { cancel(reason?: string): void };

/**
 * Options for `got.extend()` that add the token of `auth` to every request whose URL `auth.covers()`, and send it once more if the API answers
 * 401 and another token is available. Other requests, requests with their own `Authorization`, and requests with
 * `{ context: { serviceAuth: false } }` are sent unchanged.
 * @throws TypeError if `auth` is no client or has no `baseUrl`
 */
export function serviceAuth(
  auth: TokenSource,
  { scrubErrors = true }: ServiceAuthGotOptions = {},
): ServiceAuthGotExtension {
  checkTokenSource(auth, 'got');
  const sent = new Map<string, AccessToken>();
  const rejections = new WeakSet<object>();
  const tokenOf = ({ headers }: Pick<OptionsInit, 'headers'>): AccessToken | undefined =>
    sent.get(String(headers?.['authorization']));

  const attach: BeforeRequestHook = async (options) => {
    const { headers, url, context, signal } = options;
    // This is our own header from before a redirect or a retry.
    if (tokenOf(options)) delete headers['authorization'];
    if (Object.hasOwn(headers, 'authorization') && headers['authorization'] !== undefined) return;
    if ((Object.hasOwn(context, 'serviceAuth') && context['serviceAuth'] === false) || !auth.covers(url as URL)) return;
    const token = await auth.getToken({ signal });
    const { authorization } = token;
    // got's cache would store all headers of this request with an answer that has `Vary`.
    if (options.cache) options.cache = false;
    // Hide them now, because got calls no hook with the error of an abort, and the error contains the agents.
    if (scrubErrors) for (const agent of Object.values(options.agent || {})) if (agent) hideAgentRequests(agent);
    if (signal && scrubErrors) setUntilAborted(headers, authorization, signal);
    else headers['authorization'] = authorization;
    if (sent.has(authorization)) return;
    sent.set(authorization, token);
    if (sent.size > knownTokens) sent.delete(sent.keys().next().value as string);
  };

  /** The token that a 401 rejects, if it is one of ours. */
  function rejectedBy(response: Response): AccessToken | undefined {
    const { statusCode, request } = response;
    const token = tokenOf(request.options);
    // Remove it now, because got calls no hook with the error of a `json()` that finds no JSON.
    if (token) scrub(request);
    if (!token || statusCode !== 401) return undefined;
    rejections.add(response);
    return token;
  }

  const complete: BeforeErrorHook = (error) => {
    const { response, cause } = error;
    // got sets an empty object as the cause of an answer with a wrong status.
    if (response && rejections.has(response) && !(cause instanceof Error)) error.cause = tokenRejected();
    return scrub(error);
  };

  const replace: AfterResponseHook = (response, retryWithMergedOptions) => {
    const token = rejectedBy(response);
    return token ? sendAgain(token, response, retryWithMergedOptions) : response;
  };

  async function sendAgain(
    token: AccessToken,
    response: Response,
    retryWithMergedOptions: Parameters<AfterResponseHook>[1],
  ): Promise<Response> {
    const { options } = response.request;
    const { context, retry, signal } = options;
    const replay = Object.hasOwn(context, resent) ? undefined : replayOf(options);
    const next = await replaceRejected(auth, token, { signal, canResend: replay !== undefined });
    if (!next) return response;
    const { limit = 0, calculateDelay } = retry;
    const changes: OptionsInit = {
      ...replay,
      // got keeps only string keys of `context`.
      context: ownProperties({ [resent]: true }),
      preserveHooks: true,
      // got counts this as one of the application's retries and calls its `calculateDelay`. If that returns 0, the 401 becomes an error.
      retry: ownProperties({
        limit: limit + 1,
        calculateDelay: (retry) => (retry.error.code === 'ERR_RETRYING' ? 1 : (calculateDelay?.(retry) ?? 0)),
      }),
    };
    return retryWithMergedOptions(ownProperties(changes));
  }

  /** Removes the headers that this plug-in added. An `Authorization` of the application stays. */
  function scrub<Failed extends { readonly options?: Shown | undefined }>(failed: Failed): Failed {
    const { options } = failed;
    if (!scrubErrors || !options) return failed;
    if (tokenOf(options)) delete options.headers?.['authorization'];
    return failed;
  }

  /** got 14 calls no hook with the error of `cancel()`. */
  function scrubWhenCancelled(promise: Cancelable, options: Options): void {
    const { cancel } = promise;
    let current: Shown = options;
    options.hooks.beforeRequest.push((ofThisAttempt) => {
      current = ofThisAttempt;
    });
    promise.cancel = (reason) => {
      cancel.call(promise, reason);
      // The promise is rejected now, and its error has not reached the caller yet.
      scrub({ options: current });
    };
  }

  const prepare: HandlerFunction = (options, next) => {
    // Without options the input was invalid, and got reports that itself.
    if (!options) return next(options);
    // A pagination passes on the context of the previous page.
    delete options.context[resent];
    rememberForm(options);
    // Attach the token last: hooks of other plug-ins or of the request may still change the URL.
    const { beforeRequest } = options.hooks;
    beforeRequest.push(...beforeRequest.splice(beforeRequest.indexOf(attach), 1));
    const request = next(options) as Request;
    if (options.isStream) {
      // got has no hook for the response of a stream, and no hook for the error with which the application destroys it.
      const destroy = request.destroy.bind(request);
      request.once('response', (response: Response) => {
        const token = rejectedBy(response);
        if (token) void replaceRejected(auth, token, { canResend: false });
      });
      // got calls destroy() without an error before it sends the request again.
      request.destroy = (error) => {
        if (error) scrub(request);
        return destroy(error);
      };
    } else if ('cancel' in request) {
      scrubWhenCancelled(request as Cancelable, options);
    }
    return request as never;
  };

  return {
    handlers: [prepare],
    hooks: { beforeRequest: [attach], afterResponse: [replace], beforeError: [complete] },
  };
}

/** Sets the header so that it disappears when `signal` aborts: got calls no hook with the error of an abort, which contains these headers. */
function setUntilAborted(headers: OptionsInit['headers'] & {}, authorization: string, signal: AbortSignal): void {
  let value: string | undefined = authorization;
  const descriptor: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get: () => (signal.aborted && value === authorization ? undefined : value),
    set(other) {
      value = other;
    },
  };
  Object.defineProperty(headers, 'authorization', ownProperties(descriptor));
}
