import type { EventEmitter } from 'node:events';
import process from 'node:process';
import type { TokenSource } from '@service-auth/core';
import type { ConnectHttpClient } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { asking, breakingRequests, sendingByHand, sendingFirst, withToken } from './requests.ts';

const returned401 = /the client returned 401 instead of 200/;
const endedConnections = ['no body', 'a body of one byte', 'a body of 20 kB'].map(
  (body) =>
    `a 401 with ${body} is followed by the resend, if the API ends the connection before there is another token`,
);

/** Sends a request once more if `isWorthIt`, whatever the adapter decided. */
function retrying(isWorthIt: (status: number) => boolean): (connect: ConnectHttpClient) => ConnectHttpClient {
  return breakingRequests((right) => async (request) => {
    const answer = await right.request(request);
    return isWorthIt(answer.status) ? right.request(request) : answer;
  });
}

async function reportPresentToken(auth: TokenSource): Promise<void> {
  const token = auth.peekToken();
  if (token) await auth.invalidate(token);
}

/** A client and a `ServiceAuth` for each request. */
const connectingAnew = (connect: ConnectHttpClient): ConnectHttpClient => {
  return async (context) => {
    const right = await connect(context);
    const opened = [right];
    return {
      auth: right.auth,
      async request(request) {
        const another = await connect(context);
        opened.push(another);
        return another.request(request);
      },
      close: async () => void (await Promise.all(opened.map((each) => each.close()))),
    };
  };
};

/** Clients that draw the wrong conclusion from an answer. */
export const rejectionMistakes: readonly Mistake<ConnectHttpClient>[] = [
  {
    name: 'has a ServiceAuth for each request',
    breaks: connectingAnew,
    caughtBy: {
      'one token serves many requests': /^5 tokens were issued instead of 1/,
      '20 simultaneous requests without a token cost one': /^20 tokens were asked for/,
      '20 simultaneous 401s cost one token': /^21 tokens were issued instead of 2/,
    },
  },
  {
    name: 'reports no 401 to a stream',
    breaks: breakingRequests((right) => async (request) => {
      if (!request.streamed) return right.request(request);
      return right.request(withToken(request, await right.auth.getToken()));
    }),
    caughtBy: caught(
      /the rejected token was not reported once/,
      'a 401 to a stream is reported, and the next stream has a new token',
    ),
  },
  {
    name: 'sends nothing again',
    breaks: sendingByHand({ canResend: () => false }),
    caughtBy: {
      ...caught(
        returned401,
        'a 401 leads to one new token and one resend of the same request',
        'a 401 with a large body is followed by the resend',
      ),
      ...caught(/the client answered before it sent the request that was to be paused/, ...endedConnections),
    },
  },
  {
    name: 'sends again without a body only',
    breaks: sendingByHand({ canResend: ({ body }) => body === undefined }),
    caughtBy: caught(
      returned401,
      ...['string', 'json', 'bytes', 'formData', 'blob', 'urlSearchParams'].map(
        (kind) => `a body of kind ${kind} is sent again byte for byte`,
      ),
    ),
  },
  {
    name: 'reads a stream into memory, and sends it again',
    breaks: breakingRequests((right) => async (request) => {
      if (request.body?.kind !== 'stream') return right.request(request);
      const value = new Uint8Array(await new Response(request.body.value).arrayBuffer());
      return right.request({ ...request, body: { kind: 'bytes', value } });
    }),
    caughtBy: caught(
      /the client returned 200 instead of 401/,
      'a stream is sent once: its 401 is returned, and the next request has a new token',
    ),
  },
  {
    name: 'sends the whole way again after a 401 at its end',
    breaks: sendingByHand({}),
    caughtBy: caught(
      /a request other than the last one was sent again/,
      ...[301, 302, 303, 307, 308].map(
        (status) => `a POST answered ${status} is not sent again when the request after it is answered 401`,
      ),
    ),
  },
  {
    name: 'retries every 401 itself',
    breaks: retrying((status) => status === 401),
    caughtBy: {
      'a second 401 is returned as it came': /^the API received 3 requests instead of 2/,
      'a 401 is returned when no other token is to be had': /^the API received 2 requests instead of 1/,
      'an API that always answers 401 costs at most one token more in a minute, whatever is sent':
        /^\d+ requests were sent/,
    },
  },
  {
    name: 'retries other errors of the API',
    breaks: retrying((status) => status >= 400 && status !== 401),
    caughtBy: caught(/was not returned as it came/, 'other errors of the API are returned as they came'),
  },
  {
    name: 'takes a 403 for a rejection of the token',
    breaks: breakingRequests((right) => async (request) => {
      const answer = await right.request(request);
      if (answer.status !== 403) return answer;
      await reportPresentToken(right.auth);
      return right.request(request);
    }),
    caughtBy: caught(/^the API received 2 requests instead of 1/, 'a 403 never costs a token and is not sent again'),
  },
  {
    name: 'takes a 401 from anywhere for a rejection of the token',
    breaks: breakingRequests((right) => async (request) => {
      const answer = await right.request(request);
      if (answer.status === 401) await reportPresentToken(right.auth);
      return answer;
    }),
    caughtBy: caught(
      /a token was reported as rejected/,
      'a 401 of a foreign host is returned, and says nothing about the token',
      'a foreign 401 at the end of a redirect is returned, and says nothing about the token',
    ),
  },
  {
    name: 'reports the first 401 only',
    breaks: sendingByHand({
      report: async (auth, token, attempt) => (attempt === 1 ? auth.invalidate(token) : undefined),
    }),
    caughtBy: caught(/a rejected token was not reported/, 'a second 401 is reported like the first one'),
  },
  {
    name: 'reports no token that the API accepted',
    breaks: sendingByHand({ accept: () => {} }),
    caughtBy: caught(
      returned401,
      'a token that the API accepted, and that dies minutes later, is replaced at once each time',
    ),
  },
  {
    name: 'reports no 401',
    breaks: sendingByHand({ report: async () => {} }),
    caughtBy: {
      ...caught(
        returned401,
        'a 401 leads to one new token and one resend of the same request',
        'a stream is sent once: its 401 is returned, and the next request has a new token',
      ),
      ...caught(
        /the client answered before it sent the request that was to be paused/,
        'an abort while waiting for another token after a 401 ends the wait at once',
      ),
    },
  },
  {
    name: 'reports the newest token in place of the one that was rejected',
    breaks: sendingByHand({ report: reportPresentToken }),
    caughtBy: caught(/tokens were issued instead of 2/, '20 staggered 401s cost one token'),
  },
  {
    name: 'keeps the connection of a 401',
    breaks: (connect) => {
      const unread: Response[] = [];
      return sendingFirst(async (first, request, token, right) => {
        if (first.status !== 401) return undefined;
        unread.push(first);
        await right.auth.invalidate(token);
        return right.request(withToken(request, await right.auth.getToken()));
      })(connect);
    },
    caughtBy: caught(/^\d+ connections are open/, 'the 401 before a resend does not keep its connection'),
  },
  {
    name: 'keeps the connection of a redirect',
    breaks: (connect) => {
      const unread: Response[] = [];
      return sendingFirst(async (first, request, token, right) => {
        const location = first.headers.get('location');
        if (location === null) return undefined;
        unread.push(first);
        return right.request(withToken({ ...request, url: new URL(location, request.url).href }, token));
      })(connect);
    },
    caughtBy: caught(/^\d+ connections are open/, 'the answer that redirects does not keep its connection'),
  },
  {
    name: 'throws where nobody catches it',
    breaks: asking(() => {
      // As Node does it, but without the end of this process.
      (process as EventEmitter).emit('uncaughtExceptionMonitor', new Error('thrown by a socket'));
      return {};
    }),
    caughtBy: caught(/an exception was thrown that nobody caught/, ...endedConnections),
  },
];
