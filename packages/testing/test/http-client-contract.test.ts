import type { EventEmitter } from 'node:events';
import process from 'node:process';
import type { TokenSource } from '@service-auth/core';
import { describe, expect, test } from 'vitest';
import { type ConnectHttpClient, type ContractCase, httpClientContract } from '../src/index.ts';
import { adapter, type Decisions, rightDecisions, sendWithTokenByHand } from './reference-adapter.ts';

describe('an adapter that decides rightly', () => {
  for (const { name, run } of httpClientContract(adapter(rightDecisions))) test(name, run);
});

describe('an adapter that decides rightly, and sends again by hand', () => {
  const decisions = { ...rightDecisions, sendWithToken: sendWithTokenByHand() };
  const cases = httpClientContract(adapter(decisions)).filter(({ name }) => name.includes('401'));
  for (const { name, run } of cases) test(name, run);
});

interface Mistake {
  readonly decisions: Partial<Decisions>;
  /** Cases that must notice it. */
  readonly caughtBy: readonly string[];
  /** A case that has nothing to do with it: a suite that fails whatever it is given proves nothing. Default: `unrelated`. */
  readonly passes?: string;
}

const unrelated = 'one token serves many requests';
const endedConnections = ['no body', 'a body of one byte', 'a body of 20 kB'].map(
  (body) =>
    `a 401 with ${body} is followed by the resend, if the API ends the connection before there is another token`,
);
const { authenticates, headers } = rightDecisions;
const everywhere = { covers: () => true } as unknown as TokenSource;

const mistakes: Record<string, Mistake> = {
  'sends the token to every host': {
    decisions: { authenticates: ({ optOut }) => !optOut },
    caughtBy: [
      'no token goes to another port',
      "no token goes to the API's path on a foreign host",
      "no token goes to another name of the API's host",
      'no token goes to upper case',
      'no token goes to an address in decimal',
      'a foreign host is reached, without a token',
      'a path outside baseUrl gets no token',
      'a 401 of a foreign host is returned, and says nothing about the token',
    ],
  },
  'looks for the name of the host anywhere in the address': {
    decisions: { authenticates: (request) => request.url.includes('127.0.0.1') && authenticates(request, everywhere) },
    caughtBy: [
      'no token goes to backslashes',
      'no token goes to a backslash before an @, foreign host first',
      'no token goes to a tab in the scheme',
    ],
  },
  'keeps the token on the way to another host': {
    decisions: { keepsToken: () => true },
    caughtBy: [
      'a 301 to a foreign host leaves the token behind',
      'a 302 to a foreign host leaves the token behind',
      'a 303 to a foreign host leaves the token behind',
      'a 307 to a foreign host leaves the token behind',
      'a 308 to a foreign host leaves the token behind',
      'a body redirected to a foreign host goes there without the token',
      'a foreign 401 at the end of a redirect is returned, and says nothing about the token',
      'a redirect to a foreign host and back costs no token',
    ],
  },
  'loses the token on the way to another path': {
    decisions: { keepsToken: () => false },
    caughtBy: [
      'a 302 within the API keeps the token',
      'a 308 within the API keeps the token',
      'a 401 at the end of a redirect within the API leads to a new token',
    ],
  },
  'blames the token for the 401 of a request without it': {
    decisions: { isRejection: ({ status }) => status === 401 },
    caughtBy: [
      'a foreign 401 at the end of a redirect is returned, and says nothing about the token',
      'a redirect to a foreign host and back costs no token',
    ],
  },
  'overrides the Authorization of the caller': {
    decisions: { authenticates: ({ url, optOut }, auth) => !optOut && auth.covers(url) },
    caughtBy: ["the caller's own Authorization wins, and its 401 is its own affair"],
  },
  'knows one spelling of Authorization only': {
    decisions: {
      authenticates: ({ url, optOut, headers }, auth) => !optOut && !('Authorization' in headers) && auth.covers(url),
    },
    caughtBy: ["the caller's own Authorization wins, and its 401 is its own affair"],
  },
  'authenticates who opted out': {
    decisions: { authenticates: (request, auth) => authenticates({ ...request, optOut: false }, auth) },
    caughtBy: ['a request that opted out gets no token, and needs none'],
  },
  'drops the headers of the caller': {
    decisions: { headers: (_, token) => ({ authorization: token.authorization }) },
    caughtBy: ['sends the token as a bearer, and everything else as it was'],
  },
  'compares origins as text': {
    decisions: { authenticates: (request, auth) => request.url.startsWith('http:') && authenticates(request, auth) },
    caughtBy: ['the API in another spelling gets the token all the same'],
  },
  'sends up to three times': {
    decisions: { sendWithToken: sendWithTokenByHand({ sends: 3, isNew: () => true }) },
    caughtBy: ['a second 401 is returned as it came'],
  },
  'sends again with the token that was rejected': {
    decisions: { sendWithToken: sendWithTokenByHand({ isNew: () => true }) },
    caughtBy: [
      'an API that always answers 401 costs at most one token more in a minute, whatever is sent',
      'a 401 is returned when no other token is to be had',
    ],
  },
  'never sends again': {
    decisions: { sendWithToken: sendWithTokenByHand({ sends: 1 }) },
    caughtBy: [
      'a 401 leads to one new token and one resend of the same request',
      'a 401 with a large body is followed by the resend',
      '20 simultaneous 401s cost one token',
      '20 staggered 401s cost one token',
      ...endedConnections,
    ],
  },
  'reports the first 401 only': {
    decisions: { sendWithToken: sendWithTokenByHand({ reports: 1 }) },
    caughtBy: ['a second 401 is reported like the first one'],
  },
  'sends the whole way again after a 401 at its end': {
    decisions: { resends: (first) => first },
    caughtBy: [301, 302, 303, 307, 308].map(
      (status) => `a POST answered ${status} is not sent again when the request after it is answered 401`,
    ),
  },
  'keeps the connection of a 401': {
    decisions: { discardRejection: () => {} },
    caughtBy: ['the 401 before a resend does not keep its connection'],
  },
  'keeps the connection of a redirect': {
    decisions: { discardRedirect: () => {} },
    caughtBy: ['the answer that redirects does not keep its connection'],
  },
  'never reports a 401': {
    decisions: { invalidate: async () => {} },
    caughtBy: [
      'a 401 leads to one new token and one resend of the same request',
      'a stream is sent once: its 401 is returned, and the next request has a new token',
      'an abort while waiting for another token after a 401 ends the wait at once',
    ],
  },
  'gives up whatever token is in use instead of the one that was sent': {
    decisions: {
      invalidate: async (auth) => {
        const token = auth.peekToken();
        if (token) await auth.invalidate(token);
      },
    },
    caughtBy: ['20 staggered 401s cost one token'],
  },
  'throws where nobody catches it': {
    decisions: {
      // As Node does it, but without the end of this process.
      invalidate: async (auth, token) => {
        (process as EventEmitter).emit('uncaughtExceptionMonitor', new Error('thrown by a socket'));
        await auth.invalidate(token);
      },
    },
    caughtBy: endedConnections,
  },
  'renews on 403': {
    decisions: { isRejection: ({ status }) => status === 401 || status === 403 },
    caughtBy: ['a 403 never costs a token and is not sent again'],
  },
  'renews on any error': {
    decisions: { isRejection: ({ ok }) => !ok },
    caughtBy: ['other errors of the API are returned as they came'],
  },
  'sends a stream again': {
    decisions: { canResend: () => true },
    caughtBy: ['a stream is sent once: its 401 is returned, and the next request has a new token'],
  },
  'sends again without a body only': {
    decisions: { canResend: (body) => body === undefined },
    caughtBy: ['string', 'json', 'bytes', 'formData', 'blob', 'urlSearchParams'].map(
      (kind) => `a body of kind ${kind} is sent again byte for byte`,
    ),
  },
  'ignores the caller while it waits for a token': {
    decisions: { waitsWith: () => undefined },
    caughtBy: ['an abort while waiting for a token ends the wait at once, and the token is not lost'],
  },
  'sends without a token when there is none': {
    decisions: { withoutToken: () => undefined },
    caughtBy: [
      'ERR_TOKEN_ENDPOINT reaches the caller when the token endpoint is down',
      'ERR_CREDENTIALS_REJECTED reaches the caller when the client secret is wrong',
      'ERR_RATE_LIMITED reaches the caller when the token endpoint answers 429',
      'ERR_ISSUANCE_LIMIT reaches the caller when the limit is reached',
      'ERR_STORE reaches the caller when the store is down',
      'ERR_CLOSED reaches the caller after close()',
    ],
  },
  'replaces our errors by its own': {
    decisions: {
      withoutToken: () => {
        throw new Error('no token');
      },
    },
    caughtBy: [
      'ERR_TOKEN_ENDPOINT reaches the caller when the token endpoint is down',
      'ERR_CLOSED reaches the caller after close()',
    ],
  },
  'sends the token in a header of its own, too': {
    decisions: { headers: (given, token) => ({ ...headers(given, token), 'x-token': token.value }) },
    caughtBy: [unrelated, 'a 307 to a foreign host leaves the token behind'],
    passes: 'ERR_CLOSED reaches the caller after close()',
  },
  'puts the request into its errors': {
    decisions: {
      rethrow: (error, token) => {
        const request = { headers: { authorization: token?.authorization } };
        throw Object.assign(new Error('failed', { cause: error }), { request });
      },
    },
    caughtBy: ['a broken connection to the API is reported by the client, without a secret'],
  },
};

function caseNamed(cases: readonly ContractCase[], name: string): ContractCase {
  const found = cases.find((each) => each.name === name);
  if (!found) throw new Error(`There is no case "${name}".`);
  return found;
}

describe('an adapter that', () => {
  for (const [mistake, { decisions, caughtBy, passes = unrelated }] of Object.entries(mistakes)) {
    const cases = httpClientContract(adapter({ ...rightDecisions, ...decisions }));
    test(`${mistake} is caught`, { timeout: 20_000 }, async () => {
      await caseNamed(cases, passes).run();
      for (const name of caughtBy) await expect(caseNamed(cases, name).run(), name).rejects.toThrow();
    });
  }
});

describe('httpClientContract', () => {
  const neverConnected: ConnectHttpClient = () => {
    throw new Error('not to be connected');
  };
  const names = (traits?: Parameters<typeof httpClientContract>[1]) =>
    httpClientContract(neverConnected, traits).map(({ name }) => name);

  test('names every case once, and starts nothing before a case is run', () => {
    expect(new Set(names()).size).toBe(names().length);
    expect(names().length).toBeGreaterThan(60);
  });

  test('asks for the bodies that a client can send', () => {
    const about = (list: readonly string[]) => list.filter((name) => /^a body of kind|^a stream/.test(name));
    expect(about(names())).toHaveLength(7);
    expect(about(names({ bodies: ['string', 'stream'] }))).toEqual([
      'a body of kind string is sent again byte for byte',
      'a stream is sent once: its 401 is returned, and the next request has a new token',
    ]);
  });

  test('expects a client that cannot follow redirects to return them', async () => {
    const cases = httpClientContract(adapter(rightDecisions), { followsRedirects: false });
    const follower = caseNamed(cases, 'a 302 is returned, and nothing is sent to where it leads');
    await expect(follower.run()).rejects.toThrow();
  });

  test('looks for our error where the client says it is', async () => {
    const wrapping = adapter({
      ...rightDecisions,
      withoutToken: (error) => {
        throw Object.assign(new Error('wrapped'), { detail: error });
      },
    });
    const name = 'ERR_CLOSED reaches the caller after close()';
    await expect(caseNamed(httpClientContract(wrapping), name).run()).rejects.toThrow();
    const failure = (error: unknown) => (error as { detail: unknown }).detail;
    await caseNamed(httpClientContract(wrapping, { failure }), name).run();
  });

  test('closes the service when no client can be connected', async () => {
    let url = '';
    const cases = httpClientContract(async ({ service }) => {
      url = service.url;
      throw new Error('cannot be connected');
    });
    await expect(cases[0]?.run()).rejects.toThrow('cannot be connected');
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  test("judges of a client's own error what its users are told to log", async () => {
    const leaking = adapter({ ...rightDecisions, ...mistakes['puts the request into its errors']?.decisions });
    const name = 'a broken connection to the API is reported by the client, without a secret';
    const printable = (error: unknown) => (error as Error).message;
    await caseNamed(httpClientContract(leaking, { printable }), name).run();
  });
});
