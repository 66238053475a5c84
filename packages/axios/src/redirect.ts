import type { AccessToken, TokenSource } from '@service-auth/core';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { isReplayable } from './body.ts';
import type { Changes } from './dispatch.ts';
import { isCovered, requestUrl } from './request-url.ts';

/** Whether the request still has the token, or left it behind at a redirect. */
export interface Carried {
  token: boolean;
}

const bodyHeaders = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'];
const ownHeaders = ['authorization', 'proxy-authorization', 'cookie', 'host'];

/**
 * Leaves the token behind when axios's http adapter follows a redirect to where the token may not go. By itself that adapter takes it along
 * to any path of the origin, and in older versions to subdomains.
 */
export function redirectGuard(
  { beforeRedirect }: InternalAxiosRequestConfig,
  source: TokenSource,
  token: AccessToken,
  carried: Carried,
): NonNullable<InternalAxiosRequestConfig['beforeRedirect']> {
  return (options, ...details) => {
    const target = targetOf(options);
    beforeRedirect?.(options, ...details);
    const headers: Record<string, unknown> = options['headers'];
    const name = Object.keys(headers).find((header) => header.toLowerCase() === 'authorization') ?? '';
    if (headers[name] !== token.authorization) {
      carried.token = false;
    } else if (target !== targetOf(options) || !isCovered(source, String(options['href']))) {
      carried.token = false;
      delete headers[name];
    }
  };
}

/** Where a redirect leads: a `beforeRedirect` of the application may have changed it, `href` then is the old one. */
function targetOf({ protocol, hostname, port, path }: Record<string, unknown>): string {
  return [protocol, hostname, port, path].join();
}

/** Whether redirects answered to axios's fetch adapter are followed here: fetch itself would not tell where it went, nor ask. */
export function isLeftToUs({ fetchOptions, maxRedirects }: InternalAxiosRequestConfig): boolean {
  return maxRedirects !== 0 && (fetchOptions?.['redirect'] ?? 'follow') === 'follow';
}

/** Whether a response is a redirect that axios's fetch adapter was told not to follow: its `request` is a Request, and says so. */
export function isRedirectOfFetch(response: AxiosResponse | undefined): response is AxiosResponse {
  return response?.request?.redirect === 'manual' && [301, 302, 303, 307, 308].includes(response.status);
}

/** The next request after a redirect, by the rules of fetch; undefined if fetch would fail. */
export function nextHop(
  config: InternalAxiosRequestConfig,
  response: AxiosResponse,
  source: TokenSource,
): (Changes & Pick<InternalAxiosRequestConfig, 'headers'>) | undefined {
  const current = requestUrl(config);
  const location = fromBytes(String(response.headers['location'] ?? ''));
  if (!location || !URL.canParse(location, current)) return undefined;
  const target = new URL(location, current);
  if (!/^https?:/.test(target.href)) return undefined;

  const method = String(config.method).toLowerCase();
  const turnsIntoGet =
    response.status === 303
      ? method !== 'get' && method !== 'head'
      : method === 'post' && [301, 302].includes(response.status);
  if (!turnsIntoGet && !isReplayable(config.data)) return undefined;
  const headers = config.headers.concat() as InternalAxiosRequestConfig['headers'];
  if (turnsIntoGet) headers.delete(bodyHeaders);
  if (target.origin !== new URL(current).origin) headers.delete(ownHeaders);
  if (!isCovered(source, target.href)) headers.delete('authorization');
  const body = turnsIntoGet ? { method: 'get', data: undefined } : {};
  return { ...body, headers, url: target.href, allowAbsoluteUrls: true, params: undefined };
}

/** Header values are bytes, one by one; what is not ASCII in a Location is meant as UTF-8. */
function fromBytes(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (byte) => byte.charCodeAt(0)));
}
