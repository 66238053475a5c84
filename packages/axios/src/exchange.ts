import type { AccessToken, TokenSource } from '@service-auth/core';
import {
  acceptsToken,
  discardBody,
  isLoopback,
  isRedirect,
  isReplayable,
  listenToErrors,
  ownProperties,
  type SendWithTokenOptions,
} from '@service-auth/core/http';
import type { AxiosRequestConfig, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { createDeadline } from './deadline.ts';
import type { Changes, Dispatch, Ending } from './dispatch.ts';
import { hide, redactConfig } from './errors.ts';
import { type IsRejected, judge } from './judge.ts';
import { changesOf, followsRedirects, type Hop, hopOfFetch, hopOfHttp, withHeaders } from './redirect.ts';

/** A call whose URL `auth` covers. */
export interface Call {
  readonly config: InternalAxiosRequestConfig;
  readonly url: string;
  readonly auth: TokenSource;
  /** The rule of the application for the answers that reject the token. */
  readonly isRejected: IsRejected | undefined;
}

/** Sends the requests of one call for `sendWithToken`, and remembers the last verdict. */
export interface Exchange extends SendWithTokenOptions<Ending> {
  /** True if the last answer rejected the token. */
  readonly wasRejected: () => boolean;
}

/**
 * Creates the exchange of one call: it sends the request, follows redirects, and sends the last hop
 * again after a 401.
 */
export function createExchange({ config, url, auth, isRejected }: Call, dispatch: Dispatch): Exchange {
  const deadline = createDeadline(config, dispatch);
  const { method = 'get', headers, data } = config;
  const isLocal = isDirect(config, url);
  let hop: Hop = { url, method, headers, data, carriesToken: true, followed: 0 };
  let wasRejected = false;
  /** The error of a redirect that cannot be followed. */
  let failedRedirect: unknown;
  const replay = replayOf(data);
  if (!isReplayable(data)) listenToErrors(data);

  function changesWith({ authorization }: AccessToken): Changes {
    return {
      ...changesOf(hop, config),
      ...deadline.rest(),
      // The headers are a copy, so the configuration that the caller can see never contains the
      // token.
      headers: hop.carriesToken ? withHeaders(hop.headers, { Authorization: authorization }) : hop.headers,
      beforeRedirect(options, ...details) {
        hop = hopOfHttp(options, hop, authorization, auth, () => config.beforeRedirect?.(options, ...details));
      },
      ...(isLocal && { proxy: false as const }),
      redact: ['authorization', ...(config.redact ?? [])],
      ...(followsRedirects(config) && { fetchOptions: ownProperties({ ...config.fetchOptions, redirect: 'manual' }) }),
    };
  }

  /**
   * Returns the next request after a redirect that axios's fetch adapter returned. Undefined: the
   * answer is none. The adapter followed none by itself if the `redirect` of its `request` is
   * `manual`.
   */
  function nextHop({ response }: Ending): Hop | undefined {
    if (!response || !isRedirect(response.status) || response.request?.redirect !== 'manual') return undefined;
    return followsRedirects(config) ? hopOfFetch(response, hop, auth) : undefined;
  }

  function verdictOn(response: AxiosResponse | undefined): boolean | Promise<boolean> {
    return response !== undefined && hop.carriesToken && judge(isRejected, response, config);
  }

  function keep(verdict: boolean): boolean {
    wasRejected = verdict;
    return verdict;
  }

  return ownProperties({
    waitForToken: () => deadline.waitForToken(auth),
    async send(token, attempt) {
      redactConfig(config);
      if (failedRedirect !== undefined) {
        return {
          response: undefined,
          error: await dispatch.failure(config, 'Network Error', 'ERR_NETWORK', failedRedirect),
        };
      }
      if (attempt === 2 && replay && hop.data === data) hop = replay(hop);
      const failed = hop.followed === 0 ? failureOf(hop.data) : undefined;
      if (failed) return { response: undefined, error: await dispatch.failure(config, ...failed) };
      const ending = await dispatch.send(config, changesWith(token));
      // Successful answers are redacted too: axios turns an answer that it cannot parse into an
      // error later.
      hide(ending.response, 'request');
      return ending;
    },
    follow(ending) {
      try {
        const next = nextHop(ending);
        if (next) hop = next;
        return next !== undefined;
      } catch (error) {
        failedRedirect = error;
        return true;
      }
    },
    isRejected({ response }) {
      const verdict = verdictOn(response);
      return typeof verdict === 'boolean' ? keep(verdict) : Promise.resolve(verdict).then(keep);
    },
    wasRejected: () => wasRejected,
    isAccepted: ({ response }) => response !== undefined && acceptsToken(response.status) && hop.carriesToken,
    canResend: () => isReplayable(hop.data) || replay !== undefined,
    discard,
  });
}

/**
 * Frees the connection of an unread streamed answer. axios reads all other answers to their end.
 */
function discard({ response }: Ending): void {
  discardBody(response?.data);
}

/**
 * Returns the arguments of axios's error for a stream that ended while the call waited for a token.
 * Undefined: the body can be sent. axios itself would wait for such a stream for ever.
 */
function failureOf(body: unknown): [message: string, code: string, cause?: unknown] | undefined {
  const { errored, destroyed } = Object(body) as { errored?: unknown; destroyed?: unknown };
  if (destroyed !== true) return undefined;
  const { message, code } = Object(errored) as { message?: string; code?: string };
  if (!errored) return ['Request stream has been aborted', 'ERR_CANCELED'];
  return [message ?? 'The request stream failed', code ?? 'ERR_BAD_REQUEST', errored];
}

/**
 * True if a request must ignore the proxies of the environment. Plain http is allowed for loopback
 * because the token stays on this machine, and a proxy would take it away. A `proxy` in the
 * configuration is the application's own choice and is used.
 */
export function isDirect({ proxy }: AxiosRequestConfig, url: string): boolean {
  return !proxy && /^http:/i.test(url) && isLoopback(new URL(url));
}

/** A form of the package form-data. On Node, axios makes one of a plain object, too. */
interface PackageForm {
  /** The header, the value and the end of each field. The form removes what it has sent. */
  readonly _streams: readonly unknown[];
  getBoundary(): string;
  getHeaders(): { readonly 'content-type': string };
}

const isText = (part: unknown): part is string | Uint8Array => typeof part === 'string' || part instanceof Uint8Array;

/**
 * Returns a function that gives a request its form again, as bytes. Call this before the form is
 * sent. Undefined if the body is no form of the package form-data, or if a value is a stream.
 */
function replayOf(body: unknown): ((hop: Hop) => Hop) | undefined {
  const form: Partial<PackageForm> = Object(body);
  if (!Array.isArray(form._streams) || !form.getBoundary || !form.getHeaders) return undefined;
  const end = `--${form.getBoundary()}--\r\n`;
  const parts = form._streams.map((part, index) => (index % 3 === 2 ? '\r\n' : part));
  if (parts.length > 0) parts.push(end);
  if (!parts.every(isText)) return undefined;
  const contentType = form.getHeaders()['content-type'];
  return (hop) => {
    const headers = hop.headers.concat({ 'content-type': contentType });
    return { ...hop, data: Buffer.concat(parts.map((part) => Buffer.from(part))), headers };
  };
}
