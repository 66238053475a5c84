import type { AccessToken, GetTokenOptions, TokenSource } from '@service-auth/core';
import {
  checkIsRejected,
  checkTokenSource,
  hideAgentRequests,
  isTokenPending,
  ownProperties,
  replaceRejected,
  settledToken,
  tokenBypassed,
  tokenNotSent,
  tokenRejected,
} from '@service-auth/core/http';
import {
  type AfterResponseHook,
  type BeforeErrorHook,
  type BeforeRequestHook,
  type BeforeRetryHook,
  type ExtendOptions,
  type HandlerFunction,
  type Options,
  type OptionsInit,
  type Request,
  RequestError,
  type Response,
  TimeoutError,
} from 'got';
import { rememberForm, replayOf } from './body.ts';

/** The result of {@link serviceAuth}, for `got.extend()`. It has no other options, because got infers the return type of requests from them. */
export type ServiceAuthGotExtension = Required<Pick<ExtendOptions, 'handlers' | 'hooks'>>;

/** Options of {@link serviceAuth}. */
export interface ServiceAuthGotOptions {
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403, 400 or even 200. Such an answer is treated as a 401 is by
   * default, and no other one is, not even a 401. It is asked only about requests that had the token. `response` is as in got's `afterResponse`; of a stream
   * it has only status and headers. What it throws or rejects with is the `cause` of the RequestError with which the request fails. Default: the status is 401.
   */
  readonly isRejected?:
    | ((response: Pick<Response, 'statusCode' | 'headers'> & Partial<Response>) => boolean | Promise<boolean>)
    | undefined;
}

const resent = 'serviceAuthSent';

/** Waits that a time-out of got ended: what they waited for, by the error that got sees in their place. */
const waits = new WeakMap<Error, Error>();

/** The limits of a wait for a token. got itself does not time the hooks before a request. */
function waitOf({ signal, timeout }: Pick<Options, 'signal' | 'timeout'>): GetTokenOptions | undefined {
  const maxWaitMs = timeout?.request;
  return signal || maxWaitMs !== undefined ? { signal, maxWaitMs } : undefined;
}

/** Rejects as got times out if `timeout.request` ends the wait, so that got tries again as after its other time-outs. */
async function inTime<Result>(wait: Promise<Result>, { timeout }: Pick<Options, 'timeout'>): Promise<Result> {
  try {
    return await wait;
  } catch (error) {
    if (!isTokenPending(error)) throw error;
    const timedOut = new Error(`Timeout awaiting 'request' for ${timeout.request}ms`);
    waits.set(Object.assign(timedOut, { code: 'ETIMEDOUT', event: 'request' }), error);
    throw timedOut;
  }
}

/**
 * Options for `got.extend()` that add the token of `auth` to every request whose URL `auth.covers()`, and send it once more if the API answers
 * 401 and another token is available. Other requests, requests with their own `Authorization`, and requests with
 * `{ context: { serviceAuth: false } }` are sent unchanged.
 * @throws TypeError if `auth` is no client or has no `baseUrl`, or if `isRejected` is no function
 */
export function serviceAuth(auth: TokenSource, options: ServiceAuthGotOptions = {}): ServiceAuthGotExtension {
  checkTokenSource(auth, 'got');
  checkIsRejected(options.isRejected, 'got');
  const { isRejected = ({ statusCode }) => statusCode === 401 } = options;
  /** The tokens of this client by the value that stands for each in the headers. */
  const sent = new WeakMap<object, AccessToken>();
  /** The answers that were asked about. */
  const judged = new WeakSet<object>();
  /** Why answers rejected the token, and the reasons of 401s to requests without it. */
  const reasons = new WeakMap<object, () => Error>();
  const tokenIn = (headers: Options['headers']) => sent.get(Object(headers['authorization']));
  const ownIn = (headers: Options['headers']) =>
    Object.hasOwn(headers, 'authorization') ? headers['authorization'] : undefined;
  // An object is the token of another client, or of the same one that was attached twice.
  const isText = (own: unknown) => typeof own === 'string' || Array.isArray(own);
  const isExempt = ({ context }: Pick<Options, 'context'>) =>
    Object.hasOwn(context, 'serviceAuth') && context['serviceAuth'] === false;
  const isServed = (options: Pick<Options, 'context' | 'url'>) => !isExempt(options) && auth.covers(options.url as URL);

  const attach: BeforeRequestHook = (options) => {
    const { headers } = options;
    // This is a header of this package, from before a redirect or a retry.
    if (tokenIn(headers)) delete headers['authorization'];
    if (!isServed(options)) return;
    const own = ownIn(headers);
    if (isText(own)) auth.reportBypass?.();
    if (own !== undefined) return;
    const promise = auth.getToken(waitOf(options));
    const known = settledToken(promise);
    return known ? add(known, options) : inTime(promise, options).then((token) => add(token, options));
  };

  function add(token: AccessToken, options: Parameters<BeforeRequestHook>[0]): void {
    // Node sends this value as text, and printing does not show it. got's errors contain the headers, and got calls no hook with the errors of an abort, of
    // `cancel()`, of a stream that the application destroys, and of a `json()` that finds no JSON.
    const hidden = { toString: () => token.authorization };
    sent.set(hidden, token);
    options.headers['authorization'] = hidden as never;
    // got's cache would store all headers of this request with an answer that has `Vary`.
    if (options.cache) options.cache = false;
    // The agents are in got's errors, too.
    if (options.agent) for (const agent of Object.values(options.agent)) if (agent) hideAgentRequests(agent);
  }

  /** The token that an answer rejects, if the request had one. Reports the token that another answer accepts. */
  async function rejectedBy(response: Response): Promise<AccessToken | undefined> {
    judged.add(response);
    const { statusCode, headers, request } = response;
    const token = tokenIn(request.options.headers);
    if (!token) {
      if (statusCode === 401) explain(response);
      return undefined;
    }
    const verdict = isRejected(request.options.isStream ? { statusCode, headers } : response);
    if (typeof verdict === 'boolean' ? verdict : await verdict) {
      reasons.set(response, tokenRejected);
      return token;
    }
    if (statusCode < 400) auth.reportAccepted?.(token);
    return undefined;
  }

  /** Remembers why a request that was answered 401 had no token. */
  function explain(response: Response): void {
    const { options } = response.request;
    const own = ownIn(options.headers);
    if (isServed(options)) {
      if (isText(own)) reasons.set(response, tokenBypassed);
    } else if (own === undefined && !isExempt(options) && response.redirectUrls.length === 0) {
      reasons.set(response, () => tokenNotSent(options.url as URL));
    }
  }

  /** Reports a rejection that `replace` has not reported. */
  async function report(response: Response | undefined): Promise<void> {
    if (!response || judged.has(response)) return;
    const token = await rejectedBy(response);
    if (token) await replaceRejected(auth, token, { canResend: false });
  }

  // For a response that a stream does not pass on, got calls these two hooks only.
  const reportBeforeRetry: BeforeRetryHook = ({ response }) => report(response);
  const complete: BeforeErrorHook = async (error) => {
    const { response, cause, request, timings } = error;
    const wait = cause instanceof Error && waits.get(cause);
    if (wait) {
      // got's own time-outs have this class. An error of another copy of got stays as it is.
      const isOwn = error instanceof RequestError && request !== undefined;
      return Object.assign(isOwn ? new TimeoutError(cause as never, timings as never, request) : error, {
        cause: wait,
      });
    }
    await report(response);
    // got sets an empty object as the cause of an answer with a wrong status.
    const reason = response && reasons.get(response);
    if (reason && !(cause instanceof Error)) error.cause = reason();
    return error;
  };

  const replace: AfterResponseHook = async (response, retryWithMergedOptions) => {
    const token = await rejectedBy(response);
    return token ? sendAgain(token, response, retryWithMergedOptions) : response;
  };

  async function sendAgain(
    token: AccessToken,
    response: Response,
    retryWithMergedOptions: Parameters<AfterResponseHook>[1],
  ): Promise<Response> {
    const { options } = response.request;
    const { context } = options;
    const replay = Object.hasOwn(context, resent) ? undefined : replayOf(options);
    const waiting = replaceRejected(auth, token, { ...waitOf(options), canResend: replay !== undefined });
    const next = await inTime(waiting, options);
    if (!next) return response;
    const { calculateDelay } = options.retry;
    // got counts the second try as a retry, and the application allows only so many retries.
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
    // Without options the input was invalid, and got reports that itself.
    if (!options) return next(options);
    // A pagination passes on the context of the previous page.
    if (Object.hasOwn(options.context, resent)) delete options.context[resent];
    rememberForm(options);
    // Attach the token last: hooks of other plug-ins or of the request may still change the URL.
    const { beforeRequest } = options.hooks;
    if (beforeRequest.at(-1) !== attach) beforeRequest.push(...beforeRequest.splice(beforeRequest.indexOf(attach), 1));
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
      beforeRequest: [attach],
      afterResponse: [replace],
      beforeRetry: [reportBeforeRetry],
      beforeError: [complete],
    },
  };
}
