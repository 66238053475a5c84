import type { AccessToken, TokenSource } from '@service-auth/core';
import type { AxiosRequestHeaders, InternalAxiosRequestConfig } from 'axios';
import { discard } from './body.ts';
import type { Changes, Dispatch, Ending } from './dispatch.ts';
import { hide, hideRequests } from './presentable.ts';
import { isLeftToUs, isRedirectOfFetch, nextHop, redirectGuard } from './redirect.ts';

/** A request to a URL that `source` covers. */
export interface CoveredRequest {
  readonly config: InternalAxiosRequestConfig;
  readonly url: string;
  readonly source: TokenSource;
}

// As many as fetch follows.
const mostHops = 20;

/**
 * Sends a request with a token, which goes along with redirects as far as `source` covers the way.
 * `answersToken`: whether it went all the way to where the response comes from.
 */
export async function exchange(
  { config, url, source }: CoveredRequest,
  token: AccessToken,
  rest: Changes,
  dispatch: Dispatch,
): Promise<Ending & { answersToken: boolean }> {
  hideRequests(config);
  const carried = { token: true };
  let changes: Changes = {
    ...rest,
    ...addressed(config, url),
    headers: withToken(config.headers, token),
    beforeRedirect: redirectGuard(config, source, token, carried),
    redact: ['authorization', ...(config.redact ?? [])],
  };
  if (isLeftToUs(config)) changes.fetchOptions = { ...config.fetchOptions, redirect: 'manual' };
  let ending = await dispatch.send(config, changes);
  for (let hops = 0; hops < mostHops && isRedirectOfFetch(ending.response) && isLeftToUs(config); hops++) {
    const hop = nextHop({ ...config, ...changes }, ending.response, source);
    if (!hop) break;
    discard(ending.response);
    carried.token = hop.headers.has('authorization');
    changes = { ...changes, ...hop };
    ending = await dispatch.send(config, changes);
  }
  // Not of errors alone: axios makes one of an answer that it cannot parse.
  hide(ending.response, 'request');
  return { ...ending, answersToken: carried.token };
}

/**
 * The address that was judged, for versions of axios differ in what they make of `allowAbsoluteUrls`. Adapters of the application, such as
 * mocks, get address and `baseURL` as they are used to.
 */
function addressed({ adapter, allowAbsoluteUrls }: InternalAxiosRequestConfig, url: string): Changes {
  return typeof adapter === 'function' && allowAbsoluteUrls !== false ? {} : { url, allowAbsoluteUrls: true };
}

/** The configuration that the caller knows never contains the token: the headers are a copy. */
function withToken(headers: AxiosRequestHeaders, { authorization }: AccessToken): AxiosRequestHeaders {
  // By hand: concat() and set() check every character of every value once more, and core has checked those of the token.
  return Object.assign(Object.create(Object.getPrototypeOf(headers)), headers, { Authorization: authorization });
}
