import { isLoopback } from '@service-auth/core/http';
import type { AxiosRequestConfig } from 'axios';

/**
 * Returns the URL of a request as axios builds it, without `params`. `instance.getUri()` would
 * merge all settings again, and in some versions of axios its result differs from the URL that is
 * requested.
 */
export function requestUrl({ baseURL, url, allowAbsoluteUrls }: AxiosRequestConfig): string {
  const path = String(url ?? '');
  const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
  if (!baseURL || (isAbsolute && allowAbsoluteUrls !== false)) return path;
  return path ? `${withoutTrailingSlashes(String(baseURL))}/${path.replace(/^\/+/, '')}` : String(baseURL);
}

/**
 * True if a request must ignore the proxies of the environment. Plain http is allowed for loopback
 * because the token stays on this machine, and a proxy would take it away. A `proxy` in the
 * configuration is the application's own choice and is used.
 */
export function isDirect({ proxy }: AxiosRequestConfig, url: string): boolean {
  return !proxy && /^http:/i.test(url) && isLoopback(new URL(url));
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
