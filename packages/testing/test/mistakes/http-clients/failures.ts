import type { AccessToken, TokenSource } from '@service-auth/core';
import type { ConnectHttpClient, HttpClientSubject } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { asking, breakingRequests, sendingByHand } from './requests.ts';

const failureCases: Readonly<Record<string, string>> = {
  ERR_TOKEN_ENDPOINT: 'when the token endpoint is down',
  ERR_CREDENTIALS_REJECTED: 'when the client secret is wrong',
  ERR_RATE_LIMITED: 'when the token endpoint answers 429',
  ERR_ISSUANCE_LIMIT: 'when the limit is reached',
  ERR_STORE: 'when the store is down',
  ERR_CLOSED: 'after close()',
};
const namesOfFailures = Object.entries(failureCases).map(([code, when]) => `${code} reaches the caller ${when}`);

/** All who wait at the same time wait with the signal of the first. */
function sharingOneWait(): (auth: TokenSource, request: { signal: AbortSignal | undefined }) => Promise<AccessToken> {
  const waits = new WeakMap<TokenSource, Promise<AccessToken>>();
  return (auth, { signal }) => {
    const wait = waits.get(auth) ?? auth.getToken({ signal }).finally(() => waits.delete(auth));
    waits.set(auth, wait);
    return wait;
  };
}

/** Does something else with what a request rejects with. */
function rejecting(
  rethrow: (error: unknown, right: HttpClientSubject) => never,
): (connect: ConnectHttpClient) => ConnectHttpClient {
  return breakingRequests(
    (right) => async (request) => right.request(request).catch((error: unknown) => rethrow(error, right)),
  );
}

/** Clients that are wrong about aborts and failures. */
export const failureMistakes: readonly Mistake<ConnectHttpClient>[] = [
  {
    name: 'ignores the signal of its caller',
    breaks: asking(() => ({ signal: undefined })),
    caughtBy: {
      ...caught(/the request resolved instead of rejecting/, 'a request aborted beforehand sends nothing'),
      ...caught(
        /the aborted request took more than/,
        'an abort while waiting for a token ends the wait at once, and the token is not lost',
        'an abort while waiting for another token after a 401 ends the wait at once',
        'an abort while the API answers ends the request, and the token stays',
      ),
    },
  },
  {
    name: 'ignores its own timeout',
    breaks: asking(() => ({ timeoutMs: undefined })),
    caughtBy: caught(
      /a request with a timeout of 50 ms took more than/,
      "the client's own timeout ends a request, and the token stays",
    ),
  },
  {
    name: 'lets one caller abort the wait of all',
    breaks: (connect) => sendingByHand({ waitForToken: sharingOneWait() })(connect),
    caughtBy: caught(/abort/i, 'an abort while waiting for a token leaves other callers alone'),
  },
  {
    name: 'sends without a token when there is none',
    breaks: breakingRequests(
      (right) => async (request) => right.request(request).catch(() => right.request({ ...request, optOut: true })),
    ),
    caughtBy: caught(/the request did not fail/, ...namesOfFailures),
  },
  {
    name: 'replaces our errors by its own',
    breaks: rejecting(() => {
      throw new Error('There is no token.');
    }),
    caughtBy: caught(/^no ERR_\w+ was found in what the client rejected with/, ...namesOfFailures),
  },
  {
    name: 'puts the request into its errors',
    breaks: rejecting((error, { auth }) => {
      const headers = { authorization: auth.peekToken()?.authorization };
      throw Object.assign(new Error('The request failed.', { cause: error }), { request: { headers } });
    }),
    caughtBy: caught(
      /the error contains a secret/,
      'a broken connection to the API is reported by the client, without a secret',
    ),
  },
];
