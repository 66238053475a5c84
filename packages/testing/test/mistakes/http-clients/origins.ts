import { hasAuthorization } from '@service-auth/core/http';
import type {
  ConnectHttpClient,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
} from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { asking, breakingRequests, sendingFirst, withoutAuthorization, withToken } from './requests.ts';

const attached = /the token was attached|a secret reached a foreign host/;
const reachedForeign = /an Authorization header reached a foreign host|a secret reached a foreign host/;
const statuses = [301, 302, 303, 307, 308];

/** The address as a lenient parser reads it: everything before the last @ is a user name, the scheme does not matter. */
function meant(url: string, baseUrl: string): string {
  const { host, pathname, search } = new URL(url.replace(/^.*@/, 'http://'), baseUrl);
  return `http://${host}${pathname}${search}`;
}

/** Sends the request to where the redirect leads. */
function follow(
  first: Response,
  request: HttpClientRequest,
  right: HttpClientSubject,
  change: (request: HttpClientRequest) => HttpClientRequest,
): Promise<HttpClientResponse> | undefined {
  const location = first.headers.get('location');
  return location === null
    ? undefined
    : right.request(change({ ...request, url: new URL(location, request.url).href }));
}

/** Clients that send the token where it must not go, or not where it must. */
export const originMistakes: readonly Mistake<ConnectHttpClient>[] = [
  {
    name: 'sends the token to every host',
    breaks: breakingRequests((right) => async (request) => {
      if (request.optOut) return right.request(request);
      return right.request(withToken(request, await right.auth.getToken()));
    }),
    caughtBy: {
      ...caught(
        attached,
        'no token goes to another port',
        "no token goes to the API's path on a foreign host",
        "no token goes to another name of the API's host",
        'a 401 of a foreign host is returned, and says nothing about the token',
        'the token endpoint gets no token, and nobody waits for one to ask it',
      ),
      ...caught(reachedForeign, 'a foreign host is reached, without a token'),
      ...caught(/the client returned 200 instead of 401/, 'a path outside baseUrl gets no token'),
      ...caught(
        /the token was sent with/,
        'no token is sent with a path that a server may resolve to one outside baseUrl',
      ),
    },
  },
  {
    name: 'sends the token to every address, and corrects the address first',
    breaks: breakingRequests((right, baseUrl) => async (request) => {
      if (request.optOut) return right.request(request);
      const url = meant(request.url, baseUrl);
      return right.request(withToken({ ...request, url }, await right.auth.getToken()));
    }),
    caughtBy: caught(
      attached,
      'no token goes to another scheme',
      'no token goes to a protocol-relative address',
      'no token goes to the API as user name and password',
      'no token goes to upper case',
      'no token goes to backslashes',
      'no token goes to a backslash before an @, foreign host last',
      'no token goes to a backslash before an @, foreign host first',
      'no token goes to a tab in the scheme',
      'no token goes to an address in decimal',
      'user name and password in the address are the only credentials sent',
    ),
  },
  {
    name: 'compares addresses as text',
    breaks: asking(({ url, optOut }, baseUrl) => ({ optOut: optOut || !url.startsWith(baseUrl) })),
    caughtBy: caught(
      /the client returned 401 instead of 200/,
      'the API in another spelling gets the token all the same',
    ),
  },
  {
    name: 'keeps the token on the way to another host',
    breaks: sendingFirst(async (first, request, token, right) =>
      follow(first, request, right, (next) => withToken(next, token)),
    ),
    caughtBy: caught(
      reachedForeign,
      ...statuses.map((status) => `a ${status} to a foreign host leaves the token behind`),
      'a body redirected to a foreign host goes there without the token',
      'a foreign 401 at the end of a redirect is returned, and says nothing about the token',
      'a redirect to a foreign host and back costs no token',
    ),
  },
  {
    name: 'loses the token on the way to another path',
    breaks: sendingFirst(async (first, request, _, right) =>
      follow(first, request, right, (next) => ({ ...next, optOut: true })),
    ),
    caughtBy: caught(
      /the client returned 401 instead of 200/,
      ...statuses.map((status) => `a ${status} within the API keeps the token`),
      'a 401 at the end of a redirect within the API leads to a new token',
    ),
  },
  {
    name: 'overrides the Authorization of the caller',
    breaks: asking((request) => ({ headers: withoutAuthorization(request) })),
    caughtBy: caught(
      /the client returned 200 instead of 401/,
      "the caller's own Authorization wins, and its 401 is its own affair",
    ),
  },
  {
    name: 'says nothing of an Authorization of the caller',
    breaks: asking((request) => ({ optOut: request.optOut || hasAuthorization(request.headers) })),
    caughtBy: caught(
      /0 reports instead of 1/,
      "an Authorization of the caller's own is reported once, and only where the token would go",
    ),
  },
  {
    name: 'adds the token to a request that opted out',
    breaks: asking(() => ({ optOut: false })),
    caughtBy: caught(
      /the client returned 200 instead of 401/,
      'a request that opted out gets no token, and needs none',
    ),
  },
  {
    name: 'drops the headers of the caller',
    breaks: asking(() => ({ headers: {} })),
    caughtBy: caught(
      /a header of the caller's is missing/,
      'sends the token as a bearer, and everything else as it was',
    ),
  },
  {
    name: 'sends the token in a header of its own, too',
    breaks: breakingRequests((right) => async (request) => {
      const { value } = await right.auth.getToken();
      return right.request({ ...request, headers: { ...request.headers, 'x-token': value } });
    }),
    caughtBy: {
      ...caught(/a secret was sent in a URL, a body or another header/, 'one token serves many requests'),
      ...caught(reachedForeign, 'a foreign host is reached, without a token'),
    },
  },
];
