import type { TokenSource } from '@service-auth/core';
import { isReplayable, redirectTo } from '@service-auth/core/http';
import type { AxiosRequestHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { Changes } from './dispatch.ts';

/**
 * One request without its token: the one that left the interceptors, or the next one after a
 * redirect.
 */
export interface Hop {
  /** Absolute. */
  readonly url: string;
  readonly method: string;
  readonly headers: AxiosRequestHeaders;
  readonly data: unknown;
  /** False after a redirect to a URL that is not covered. It stays false for all later hops. */
  readonly carriesToken: boolean;
  /** The number of redirects before this request. */
  readonly followed: number;
}

/** The options of `node:http` for the next request, which axios passes to `beforeRedirect`. */
export type RedirectOptions = Parameters<NonNullable<InternalAxiosRequestConfig['beforeRedirect']>>[0];

/** The settings of this hop that replace those of the configuration that left the interceptors. */
export function changesOf({ url, method, data, followed }: Hop, config: InternalAxiosRequestConfig): Changes {
  const { adapter, allowAbsoluteUrls, maxRedirects } = config;
  if (followed > 0) {
    // With 0, axios would return a redirect as the answer instead of an error.
    const left = maxRedirects && { maxRedirects: Math.max(1, maxRedirects - followed) };
    return { url, method, data, params: undefined, allowAbsoluteUrls: true, ...left };
  }
  // An adapter of the application, such as a mock, gets `url` and `baseURL` as axios would pass
  // them. axios's adapters get the URL that was checked.
  return typeof adapter === 'function' && allowAbsoluteUrls !== false
    ? { data }
    : { url, data, allowAbsoluteUrls: true };
}

/** Adds headers and keeps the class AxiosHeaders. */
export function withHeaders(headers: AxiosRequestHeaders, others: object): AxiosRequestHeaders {
  // concat() and set() would check every character of every value again; core has already checked
  // the token.
  return Object.assign(Object.create(Object.getPrototypeOf(headers)), headers, others);
}

/**
 * True if this package follows the redirects of axios's fetch adapter: fetch itself would not
 * report them. The adapter then returns each redirect as an answer.
 */
export function followsRedirects({ fetchOptions, maxRedirects }: InternalAxiosRequestConfig): boolean {
  return maxRedirects !== 0 && (fetchOptions?.['redirect'] ?? 'follow') === 'follow';
}

/**
 * Returns the next request after a redirect that axios's fetch adapter returned. Undefined if the
 * answer is no redirect.
 * @throws `TypeError` in the cases in which fetch rejects
 */
export function hopOfFetch(response: AxiosResponse, hop: Hop, auth: TokenSource): Hop | undefined {
  const { url: from, method, data, carriesToken, followed } = hop;
  const location = response.headers['location'] as string | undefined;
  const canResend = isReplayable(data);
  const to = redirectTo({ status: response.status, location, from, method, canResend, followed });
  if (!to) return undefined;
  const headers = withHeaders(hop.headers, {});
  headers.delete([...to.dropHeaders]);
  return {
    url: to.url.href,
    headers,
    ...(to.becomesGet ? { method: 'get', data: undefined } : { method, data }),
    carriesToken: carriesToken && !to.crossesOrigin && auth.covers(to.url),
    followed: followed + 1,
  };
}

/**
 * Returns the next request of axios's http adapter. That request has the token only if `auth`
 * covers its URL: by itself the adapter would send the token to every path of the origin. `ask`
 * calls the application's own `beforeRedirect`.
 */
export function hopOfHttp(
  options: RedirectOptions,
  hop: Hop,
  authorization: string,
  auth: TokenSource,
  ask: () => void,
): Hop {
  const target = targetOf(options);
  ask();
  const all = options['headers'] as Record<string, string>;
  const name = Object.keys(all).find((header) => header.toLowerCase() === 'authorization') ?? '';
  const hasToken = all[name] === authorization;
  const carriesToken = hasToken && target === targetOf(options) && auth.covers(String(options['href']));
  if (hasToken && !carriesToken) delete all[name];

  const becomesGet = options['method'] === 'GET' && hop.method.toUpperCase() !== 'GET';
  // axios would add a header again that the application removed with `false`.
  const removed = Object.entries(hop.headers).filter(([, value]) => value === false);
  const sent = Object.entries(all).filter(([header]) => header !== name);
  return {
    url: String(options['href']),
    method: String(options['method']),
    headers: withHeaders(Object.create(Object.getPrototypeOf(hop.headers)), Object.fromEntries([...removed, ...sent])),
    data: becomesGet ? undefined : hop.data,
    carriesToken,
    followed: hop.followed + 1,
  };
}

/**
 * Returns the parts of the URL of the next request. `href` is outdated if the application's
 * `beforeRedirect` has changed the other options.
 */
function targetOf({ protocol, hostname, port, path }: RedirectOptions): string {
  return [protocol, hostname, port, path].join();
}
