import type { AxiosRequestConfig } from 'axios';

/**
 * The address of a request as axios puts it together, without `params`. Not by `instance.getUri()`: that merges all settings anew, and some
 * versions of axios then go elsewhere.
 */
export function requestUrl({ baseURL, url, allowAbsoluteUrls }: AxiosRequestConfig): string {
  const path = String(url ?? '');
  const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
  if (!baseURL || (isAbsolute && allowAbsoluteUrls !== false)) return path;
  return path ? `${withoutTrailingSlashes(String(baseURL))}/${path.replace(/^\/+/, '')}` : String(baseURL);
}

/** Where a request goes, for people to read: without credentials, query and fragment. */
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
