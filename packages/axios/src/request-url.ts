import { isLoopback } from '@service-auth/core/http';
import type { AxiosRequestConfig } from 'axios';

/**
 * The URL of a request as axios builds it, without `params`. `instance.getUri()` would merge all
 * settings again, and in some versions of axios its result differs from the URL that is requested.
 */
export function requestUrl({ baseURL, url, allowAbsoluteUrls }: AxiosRequestConfig): string {
  const path = String(url ?? '');
  const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
  if (!baseURL || (isAbsolute && allowAbsoluteUrls !== false)) return path;
  return path ? `${withoutTrailingSlashes(String(baseURL))}/${path.replace(/^\/+/, '')}` : String(baseURL);
}

/**
 * Whether to ignore the proxies of the environment: plain http is allowed to loopback only because
 * the token then stays on this machine. A `proxy` in the configuration is the application's own
 * choice and is used.
 */
export function isDirect({ proxy }: AxiosRequestConfig, url: string): boolean {
  return !proxy && /^http:/i.test(url) && isLoopback(new URL(url));
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
