import type { TokenSource } from '@service-auth/core';
import type { Dispatcher } from 'undici';

/**
 * Creates a function that returns whether `auth` covers the URL of a request. It remembers the last
 * origin: if its root is covered, the whole origin is but for the token endpoint, and no path in it
 * needs to be compared with what the server reads.
 */
export function coverageOf(auth: TokenSource): (options: Dispatcher.DispatchOptions) => boolean {
  let last: string | undefined;
  let base = '';
  let isRootCovered = false;
  return (options) => {
    const { origin, path } = options;
    if (typeof origin === 'string' && origin !== last) {
      last = origin;
      base = withoutSlash(origin);
      isRootCovered = URL.canParse(origin) && auth.covers(new URL('/', origin));
    }
    const isWithinRoot = origin === last && isRootCovered && String(path).startsWith('/');
    return isWithinRoot ? auth.covers(base + path) : coversAsWritten(auth, options);
  };
}

/**
 * Returns whether `auth` covers a path as it is written. undici sends it unchanged, and the server
 * resolves dots in it, perhaps to another path than `URL` does, or drops a fragment. So a request
 * with such a path gets no token. Neither does a request without an origin, as a `Client` of undici
 * 6 and 7 sends it.
 */
function coversAsWritten(auth: TokenSource, { origin = '', path }: Dispatcher.DispatchOptions): boolean {
  const base = typeof origin === 'string' ? withoutSlash(origin) : origin.origin;
  const [written = ''] = String(path).split('?');
  const url = base + path;
  return auth.covers(url) && depthOf(new URL(url).pathname) === depthOf(written) && !url.includes('#');
}

const withoutSlash = (origin: string): string => origin.replace(/\/$/, '');

/**
 * Returns the number of segments of a path. `URL` removes a dot segment, and what it stands for.
 */
const depthOf = (path: string): number => path.split('/').length;
