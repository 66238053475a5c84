import axios, { type InternalAxiosRequestConfig } from 'axios';

// Before 1.17, axios sends requests to https through a proxy without a tunnel (CONNECT, RFC 9110
// section 9.3.6), so that the proxy can read the token.
const advice = 'shows the token to a proxy. Update it to 1.17 or newer.';

/** Refuses old versions of the axios that this package imports. npm only warns of them. */
export function refuseVersion(version: string): void {
  const [major, minor = 0] = String(version).split('.').map(Number);
  if (major === 0 || (major === 1 && minor < 17))
    throw new TypeError(`[service-auth/axios] axios ${version} ${advice}`);
}

/**
 * Returns the headers of a request. The headers of axios 0.x have no methods, so its requests are
 * refused.
 */
export function headersOf({ headers }: InternalAxiosRequestConfig): InternalAxiosRequestConfig['headers'] {
  if (typeof headers.get !== 'function') throw oldCopy();
  return headers;
}

/**
 * Refuses a request that an older copy of axios would send, perhaps through a proxy. An instance
 * does not say which version of axios it is.
 */
export function refuseOldCopy(
  { adapter, headers, proxy, transitional }: InternalAxiosRequestConfig,
  url: string,
): void {
  const isThisCopy = headers.constructor === axios.AxiosHeaders;
  const isTunneled = proxy === false || typeof adapter === 'function' || !/^https:/i.test(url);
  // 1.17 has this setting, unless the application has replaced all of them, and ignores a header
  // without a name.
  if (isThisCopy || isTunneled || 'advertiseZstdAcceptEncoding' in Object(transitional)) return;
  try {
    headers.concat().set('', '');
  } catch {
    throw oldCopy();
  }
}

function oldCopy(): TypeError {
  return new TypeError(`[service-auth/axios] The axios of this instance ${advice}`);
}
