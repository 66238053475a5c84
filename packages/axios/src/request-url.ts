import type { AxiosRequestConfig } from 'axios';

/**
 * The URL of a request as axios builds it, without `params`. `instance.getUri()` would merge all settings again, and in some versions of axios
 * its result differs from the URL that is requested.
 */
export function requestUrl({ baseURL, url, allowAbsoluteUrls }: AxiosRequestConfig): string {
  const path = String(url ?? '');
  const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
  if (!baseURL || (isAbsolute && allowAbsoluteUrls !== false)) return path;
  return path ? `${withoutTrailingSlashes(String(baseURL))}/${path.replace(/^\/+/, '')}` : String(baseURL);
}

/** The URL of a request for messages: without credentials, query and fragment. */
export function printableUrl(config: AxiosRequestConfig): string | undefined {
  try {
    const { protocol, host, pathname } = new URL(requestUrl(config));
    return `${protocol}//${host}${pathname}`;
  } catch {
    return undefined;
  }
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
