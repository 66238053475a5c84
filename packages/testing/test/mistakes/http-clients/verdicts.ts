import type { ConnectHttpClient } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';

/** Clients that draw the wrong conclusion from the option `isRejected`. */
export const verdictMistakes: readonly Mistake<ConnectHttpClient>[] = [
  {
    name: 'ignores isRejected',
    breaks:
      (connect) =>
      ({ isRejected: _, ...context }) =>
        connect(context),
    caughtBy: {
      'an answer that isRejected takes for a rejection leads to one new token and one resend':
        /the client returned 403 instead of 200/,
      'a successful answer that a promise of isRejected takes for a rejection leads to one new token and one resend':
        /the client returned 299 instead of 200/,
      'a second answer that isRejected takes for a rejection is reported, and returned as it came':
        /^the API received 1 requests instead of 2/,
      'a 401 that isRejected does not take for a rejection is returned, and says nothing about the token':
        /the 401 was not returned as it came/,
      'isRejected is asked only about requests that had the token': /isRejected was not asked once/,
      ...caught(
        /the rejected token was not reported once/,
        'an answer to a stream that isRejected takes for a rejection is reported, and the next stream has a new token',
        'a successful answer to a stream that isRejected takes for a rejection is reported, too',
      ),
      ...caught(
        /the request did not fail/,
        'a request fails with what isRejected throws, and nothing is reported',
        'a request fails with what isRejected rejects with, and nothing is reported',
      ),
    },
  },
  {
    name: 'takes a promise of isRejected for true',
    breaks: (connect) => (context) => {
      const { isRejected } = context;
      return connect({ ...context, isRejected: isRejected && ((answer) => Boolean(isRejected(answer))) });
    },
    caughtBy: {
      'a successful answer that a promise of isRejected takes for a rejection leads to one new token and one resend':
        /the client returned 299 instead of 200/,
    },
  },
  {
    name: 'asks isRejected about every answer',
    breaks: (connect) => async (context) => {
      const right = await connect({ ...context, isRejected: () => false });
      return {
        ...right,
        async request(request) {
          const answer = await right.request(request);
          await context.isRejected?.(answer);
          return answer;
        },
      };
    },
    caughtBy: caught(
      /isRejected was asked about a request without the token/,
      'isRejected is asked only about requests that had the token',
    ),
  },
];
