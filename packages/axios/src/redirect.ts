import type { TokenSource } from '@service-auth/core';
import { isReplayable, redirectTo } from '@service-auth/core/http';
import type { AxiosRequestHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { Changes } from './dispatch.ts';

/** A request to one address, without the token: the one that left the interceptors, or one that a redirect asks for. */
export interface Hop {
  /** Absolute. */
  readonly url: string;
  readonly method: string;
  readonly headers: AxiosRequestHeaders;
  readonly data: unknown;
  /** False once a redirect led to where the token may not go: it does not come back. */
  readonly carriesToken: boolean;
  /** How many redirects led here. */
  readonly followed: number;
}

/** What axios hands to `beforeRedirect`: the options of `node:http` for the next request. */
export type RedirectOptions = Parameters<NonNullable<InternalAxiosRequestConfig['beforeRedirect']>>[0];

/** What a hop changes in the configuration that left the interceptors. */
export function changesOf({ url, method, data, followed }: Hop, config: InternalAxiosRequestConfig): Changes {
  const { adapter, allowAbsoluteUrls, maxRedirects } = config;
  if (followed > 0) {
    // None left would mean to axios that redirects are answers.
    const left = maxRedirects && { maxRedirects: Math.max(1, maxRedirects - followed) };
    return { url, method, data, params: undefined, allowAbsoluteUrls: true, ...left };
  }
  // Adapters of the application, such as mocks, get address and `baseURL` as they are used to. Others get the address that was judged, for
  // versions of axios differ in what they make of `allowAbsoluteUrls`.
  return typeof adapter === 'function' && allowAbsoluteUrls !== false ? {} : { url, allowAbsoluteUrls: true };
}

/** The headers of a request, and others: the class of axios stays. */
export function withHeaders(headers: AxiosRequestHeaders, others: object): AxiosRequestHeaders {
  // By hand: concat() and set() check every character of every value once more, and core has checked those of the token.
  return Object.assign(Object.create(Object.getPrototypeOf(headers)), headers, others);
}

/**
 * Whether redirects answered to axios's fetch adapter are followed here: fetch itself would not tell where it went, nor ask. That adapter then
 * answers them.
 */
export function isFollowedHere({ fetchOptions, maxRedirects }: InternalAxiosRequestConfig): boolean {
  return maxRedirects !== 0 && (fetchOptions?.['redirect'] ?? 'follow') === 'follow';
}

/**
 * The request that an answer of axios's fetch adapter asks for.
 * @throws `TypeError` where fetch fails
 */
export function hopOfFetch(response: AxiosResponse, hop: Hop, source: TokenSource): Hop | undefined {
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
    carriesToken: carriesToken && !to.crossesOrigin && source.covers(to.url),
    followed: followed + 1,
  };
}

/**
 * The request that axios's http adapter sends next, with the token only if `source` covers it: by itself that adapter takes the token along to any
 * path of the origin, and in older versions to subdomains. `ask`: calls the application's own `beforeRedirect`.
 */
export function hopOfHttp(
  options: RedirectOptions,
  hop: Hop,
  authorization: string,
  source: TokenSource,
  ask: () => void,
): Hop {
  const target = targetOf(options);
  ask();
  const all = options['headers'] as Record<string, string>;
  const name = Object.keys(all).find((header) => header.toLowerCase() === 'authorization') ?? '';
  const hasToken = all[name] === authorization;
  const carriesToken = hasToken && target === targetOf(options) && source.covers(String(options['href']));
  if (hasToken && !carriesToken) delete all[name];

  const becomesGet = options['method'] === 'GET' && hop.method.toUpperCase() !== 'GET';
  // What the application removed by `false`, axios would add again.
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

/** Where a redirect leads: a `beforeRedirect` of the application may have changed it, `href` then is the old one. */
function targetOf({ protocol, hostname, port, path }: RedirectOptions): string {
  return [protocol, hostname, port, path].join();
}
