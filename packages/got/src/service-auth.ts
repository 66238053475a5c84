import type { AccessToken, TokenSource } from '@service-auth/core';
import type {
  AfterResponseHook,
  BeforeErrorHook,
  BeforeRequestHook,
  ExtendOptions,
  HandlerFunction,
  OptionsInit,
  Request,
  Response,
} from 'got';
import { rememberForm, replayOf } from './body.ts';

/** Options of {@link serviceAuth}. */
export interface ServiceAuthGotOptions {
  /** False: errors of got keep the `Authorization` header in their `options`, which printing them shows. Default true: it is removed. */
  readonly scrubErrors?: boolean | undefined;
}

/** What {@link serviceAuth} gives to `got.extend()`. No more than it sets, for got infers from it what requests return. */
export type ServiceAuthGotExtension = Required<Pick<ExtendOptions, 'handlers' | 'hooks'>>;

// Of the tokens sent so far, so many are known as our own: a request outlives no more renewals than that.
const knownTokens = 8;
const resent = 'serviceAuthSent';

/**
 * What to give to `got.extend()`: requests to where `auth.covers()` allows it carry the token of `auth`, and are sent once more if the API
 * answers 401 and another token is to be had. All others, those with an `Authorization` of their own, and those with
 * `{ context: { serviceAuth: false } }` are sent as they are.
 */
export function serviceAuth(
  auth: TokenSource,
  { scrubErrors = true }: ServiceAuthGotOptions = {},
): ServiceAuthGotExtension {
  const sent = new Map<string, AccessToken>();
  const tokenOf = ({ headers }: Pick<OptionsInit, 'headers'>): AccessToken | undefined =>
    sent.get(String(headers?.['authorization']));

  const attach: BeforeRequestHook = async (options) => {
    const { headers, url, context, signal } = options;
    // Ours, from before a redirect or a retry.
    if (tokenOf(options)) delete headers['authorization'];
    if (headers['authorization'] !== undefined) return;
    if (context['serviceAuth'] === false || !auth.covers(url as URL)) return;
    const token = await auth.getToken({ signal });
    let { authorization } = token;
    Object.defineProperty(headers, 'authorization', {
      enumerable: true,
      configurable: true,
      // got asks no hook about the error of an abort, in which these headers are.
      get: () => (scrubErrors && signal?.aborted ? undefined : authorization),
      set(other) {
        authorization = other;
      },
    });
    sent.set(authorization, token);
    if (sent.size > knownTokens) sent.delete(sent.keys().next().value as string);
  };

  /** The token that `response` rejects, if it is one of ours. */
  async function reportRejection({ statusCode, request }: Response): Promise<AccessToken | undefined> {
    const token = tokenOf(request.options);
    if (!token) return undefined;
    // Now, for got asks no hook about the error of a `json()` that finds none.
    scrub(request);
    if (statusCode !== 401) return undefined;
    await auth.invalidate(token);
    return token;
  }

  const sendAgain: AfterResponseHook = async (response, retryWithMergedOptions) => {
    const { options } = response.request;
    const token = await reportRejection(response);
    if (!token) return response;
    const replay = replayOf(options);
    if (options.context[resent] || !replay) return response;
    const next = await auth.getToken({ signal: options.signal });
    if (next.authorization === token.authorization) return response;
    const { limit = 0, calculateDelay } = options.retry;
    return retryWithMergedOptions({
      ...replay,
      // Only string keys survive this.
      context: { [resent]: true },
      preserveHooks: true,
      // got counts this as one of the application's retries, and asks its function: if that answers 0, the 401 becomes an error.
      retry: {
        limit: limit + 1,
        calculateDelay: (retry) => (retry.error.code === 'ERR_RETRYING' ? 1 : (calculateDelay?.(retry) ?? 0)),
      },
    });
  };

  function scrub<Failed extends Parameters<BeforeErrorHook>[0] | Request>(failed: Failed): Failed {
    if (!scrubErrors) return failed;
    const { headers, agent } = failed.options ?? {};
    delete headers?.['authorization'];
    // By these they lead to the headers of all requests under way.
    for (const each of Object.values(agent || {}))
      for (const name of ['sockets', 'freeSockets', 'requests']) hide(each, name);
    return failed;
  }

  const prepare: HandlerFunction = (options, next) => {
    // A pagination hands on the context of the page before.
    delete options.context[resent];
    rememberForm(options);
    // Hooks that other plug-ins or a request added may change the URL: the token is attached when all are done.
    const { beforeRequest } = options.hooks;
    beforeRequest.push(...beforeRequest.splice(beforeRequest.indexOf(attach), 1));
    const request = next(options) as Request;
    if (options.isStream) {
      // got has no hook for the response of a stream, and none for the error that the application destroys it with.
      const destroy = request.destroy.bind(request);
      request.once('response', reportRejection);
      // Without an error it is about to be sent again.
      request.destroy = (error) => {
        if (error) scrub(request);
        return destroy(error);
      };
    }
    return request as never;
  };

  return {
    handlers: [prepare],
    hooks: { beforeRequest: [attach], afterResponse: [sendAgain], beforeError: [scrub] },
  };
}

/** Keeps a property, but shows it no longer when its object is printed. */
function hide(part: unknown, name: string): void {
  if (Object.hasOwn(Object(part), name)) Object.defineProperty(part, name, { enumerable: false });
}
