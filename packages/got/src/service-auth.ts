import type { AccessToken, TokenSource } from '@service-auth/core';
import {
  acceptsToken,
  checkIsRejected,
  checkTokenSource,
  ownProperties,
  rejectsToken,
  replaceRejected,
  settledToken,
  tokenBypassed,
  tokenNotSent,
  tokenRejected,
} from '@service-auth/core/http';
import type {
  AfterResponseHook,
  BeforeErrorHook,
  BeforeRequestHook,
  BeforeRetryHook,
  ExtendOptions,
  HandlerFunction,
  Options,
  OptionsInit,
  Request,
  Response,
} from 'got';
import { inTime, limitsOf, timeoutError, waitForToken } from './deadline.ts';
import { rememberForm, replayOf } from './form.ts';
import { authorizationIn, createHiddenTokens, isOwn } from './headers.ts';
import { type IsRejected, judge } from './judge.ts';

/**
 * The result of {@link serviceAuth}, for `got.extend()`. It has no other options, because got
 * infers the return type of requests from them.
 */
export type ServiceAuthGotExtension = Required<Pick<ExtendOptions, 'handlers' | 'hooks'>>;

/** Options of {@link serviceAuth}. */
export interface ServiceAuthGotOptions {
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403,
   * 400 or even 200. Such an answer is treated as a 401 is by default, and no other answer is, not
   * even a 401. The function is asked only about requests that had the token. `response` is as in
   * got's `afterResponse`; of a stream it has only status and headers. What the function throws or
   * rejects with is the `cause` of the RequestError with which the request fails. Default: the
   * status is 401.
   */
  readonly isRejected?: IsRejected | undefined;
}

const resent = 'serviceAuthSent';

const isExempt = ({ context }: Pick<Options, 'context'>) =>
  Object.hasOwn(context, 'serviceAuth') && context['serviceAuth'] === false;

/**
 * Options for `got.extend()` that add the token of `auth` to every request whose URL
 * `auth.covers()`, and send the request once more if the API answers 401 and another token is
 * available. Other requests, requests with their own `Authorization`, and requests with
 * `{ context: { serviceAuth: false } }` are sent unchanged.
 * @throws TypeError if `auth` is no client or has no `baseUrl`, or if `isRejected` is no function
 */
export function serviceAuth(auth: TokenSource, { isRejected }: ServiceAuthGotOptions = {}): ServiceAuthGotExtension {
  checkTokenSource(auth, 'got');
  checkIsRejected(isRejected, 'got');
  const { tokenIn, addTo } = createHiddenTokens();
  /** The answers that were judged. */
  const judged = new WeakSet<object>();
  /** By each answer: why it rejects the token, or why its request had none. */
  const reasons = new WeakMap<object, () => Error>();
  const isServed = (options: Pick<Options, 'context' | 'url'>) => !isExempt(options) && auth.covers(options.url as URL);

  const addToken: BeforeRequestHook = (options) => {
    const { headers } = options;
    // This token was sent before a redirect or a retry.
    if (tokenIn(headers)) delete headers['authorization'];
    if (!isServed(options)) return;
    const authorization = authorizationIn(headers);
    if (isOwn(authorization)) auth.reportBypass?.();
    if (authorization !== undefined) return;
    const promise = waitForToken(auth, options);
    const known = settledToken(promise);
    return known ? addTo(options, known) : inTime(promise, options).then((token) => addTo(options, token));
  };

  /**
   * Returns the token that an answer rejects. Undefined: it rejects none. Reports the token that
   * the answer accepts. A verdict that is known needs no promise.
   */
  function rejectedBy(response: Response): AccessToken | undefined | Promise<AccessToken | undefined> {
    judged.add(response);
    const token = tokenIn(response.request.options.headers);
    if (!token) {
      if (rejectsToken(response.statusCode)) explain(response);
      return undefined;
    }
    const settle = (isRejection: boolean) => {
      if (isRejection) reasons.set(response, tokenRejected);
      else if (acceptsToken(response.statusCode)) auth.reportAccepted?.(token);
      return isRejection ? token : undefined;
    };
    const verdict = judge(isRejected, response);
    return typeof verdict === 'boolean' ? settle(verdict) : Promise.resolve(verdict).then(settle);
  }

  /** Remembers why a request that was answered 401 had no token. */
  function explain(response: Response): void {
    const { options } = response.request;
    const authorization = authorizationIn(options.headers);
    if (isServed(options)) {
      if (isOwn(authorization)) reasons.set(response, tokenBypassed);
    } else if (authorization === undefined && !isExempt(options) && response.redirectUrls.length === 0) {
      reasons.set(response, () => tokenNotSent(options.url as URL));
    }
  }

  /** Reports a rejection, unless `replace` has judged the answer. */
  async function report(response: Response | undefined): Promise<void> {
    if (!response || judged.has(response)) return;
    const token = await rejectedBy(response);
    if (token) await replaceRejected(auth, token, { canResend: false });
  }

  // For a response that a stream does not pass on, got calls these two hooks only.
  const reportBeforeRetry: BeforeRetryHook = ({ response }) => report(response);
  const complete: BeforeErrorHook = async (error) => {
    const timedOut = timeoutError(error);
    if (timedOut) return timedOut;
    const { response, cause } = error;
    await report(response);
    // got sets an empty object as the cause of an answer with a wrong status.
    const reason = response && reasons.get(response);
    if (reason && !(cause instanceof Error)) error.cause = reason();
    return error;
  };

  const replace: AfterResponseHook = (response, retryWithMergedOptions) => {
    const sendAgain = (token: AccessToken | undefined) =>
      token ? replaceAndSend(token, response, retryWithMergedOptions) : response;
    const rejected = rejectedBy(response);
    return rejected instanceof Promise ? rejected.then(sendAgain) : sendAgain(rejected);
  };

  async function replaceAndSend(
    token: AccessToken,
    response: Response,
    retryWithMergedOptions: Parameters<AfterResponseHook>[1],
  ): Promise<Response> {
    const { options } = response.request;
    const { context } = options;
    const replay = Object.hasOwn(context, resent) ? undefined : replayOf(options);
    const waiting = replaceRejected(auth, token, { ...limitsOf(options), canResend: replay !== undefined });
    const next = await inTime(waiting, options);
    if (!next) return response;
    const { calculateDelay } = options.retry;
    // got counts the second attempt as a retry, but the application limits the number of its own
    // retries.
    response.request.retryCount -= 1;
    const changes: OptionsInit = {
      ...replay,
      // got keeps only string keys of `context`.
      context: { [resent]: true },
      preserveHooks: true,
      // got asks `calculateDelay` of the application. If that returns 0, the 401 becomes an error.
      retry: {
        calculateDelay: (retry) => (retry.error.code === 'ERR_RETRYING' ? 1 : (calculateDelay?.(retry) ?? 0)),
      },
    };
    return retryWithMergedOptions(ownProperties(changes));
  }

  const prepare: HandlerFunction = (options, next) => {
    // There are no options if the input was invalid. got reports that itself.
    if (!options) return next(options);
    // A pagination passes on the context of the previous page.
    if (Object.hasOwn(options.context, resent)) delete options.context[resent];
    rememberForm(options);
    // Add the token last: hooks of other plug-ins or of the request may still change the URL.
    const { beforeRequest } = options.hooks;
    if (beforeRequest.at(-1) !== addToken)
      beforeRequest.push(...beforeRequest.splice(beforeRequest.indexOf(addToken), 1));
    const request = next(options) as Request;
    // got calls no hook with a response that a stream passes on.
    if (options.isStream) {
      request.once('response', (response: Response) => void report(response).catch((error) => request.destroy(error)));
    }
    return request as never;
  };

  return {
    handlers: [prepare],
    hooks: {
      beforeRequest: [addToken],
      afterResponse: [replace],
      beforeRetry: [reportBeforeRetry],
      beforeError: [complete],
    },
  };
}
