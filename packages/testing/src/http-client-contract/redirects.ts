import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  connectionsStayFew,
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectSent,
  expectStatus,
  foreignIsUnauthenticated,
  rejections,
  unread,
} from './fixture.ts';

const statuses = [301, 302, 303, 307, 308] as const;

/** The token follows a redirect within the API, and no other. */
export function redirectCases(define: DefineCase): ContractCase[] {
  return [
    ...statuses.map((status) =>
      define(`a ${status} within the API keeps the token`, async (fixture) => {
        await fixture.warmUp();
        fixture.service.api.next({ status, headers: { location: '/api/v1/target' } });
        expectStatus(await fixture.send(), 200);
        const received = fixture.apiRequests().map(({ path, bearer }) => `${path} ${bearer}`);
        assert.deepEqual(received, ['/api/v1/ valid', '/api/v1/target valid'], 'the token was not kept');
        expectIssued(fixture, 1);
      }),
    ),

    ...statuses.map((status) =>
      define(`a ${status} to a foreign host leaves the token behind`, async (fixture) => {
        fixture.service.api.next({ status, headers: { location: `${fixture.foreign.url}/api/v1/` } });
        expectStatus(await fixture.send(), 200);
        assert.equal(fixture.foreign.requests.length, 1, 'the foreign host did not receive one request');
        foreignIsUnauthenticated(fixture);
      }),
    ),

    define('a body redirected to a foreign host goes there without the token', async (fixture) => {
      fixture.service.api.next({ status: 307, headers: { location: fixture.foreign.url } });
      const headers = { 'content-type': 'text/plain' };
      await fixture.send({ method: 'POST', headers, body: { kind: 'string', value: 'text' } });
      assert.deepEqual(
        fixture.foreign.requests.map(({ method, body }) => [method, body]),
        [['POST', 'text']],
      );
      foreignIsUnauthenticated(fixture);
    }),

    define('a foreign 401 at the end of a redirect is returned, and says nothing about the token', async (fixture) => {
      await fixture.warmUp();
      fixture.foreign.answers.always({ status: 401 });
      fixture.service.api.always({ status: 302, headers: { location: fixture.foreign.url } });
      expectStatus(await fixture.send(), 401);
      expectSent(fixture, 1);
      expectNoRejection(fixture);
    }),

    define('a redirect to a foreign host and back costs no token', async (fixture) => {
      await fixture.warmUp();
      fixture.service.api.next({ status: 302, headers: { location: `${fixture.foreign.url}/on` } });
      fixture.foreign.answers.next({ status: 302, headers: { location: `${fixture.service.baseUrl}/api/v1/back` } });
      // With the token again or without it: clients differ. But a token that was not sent was not
      // rejected either.
      await fixture.send();
      assert.ok(fixture.apiRequests().some(({ path }) => path === '/api/v1/back'));
      expectIssued(fixture, 1);
      expectNoRejection(fixture);
    }),

    define('a 401 at the end of a redirect within the API leads to a new token', async (fixture) => {
      await fixture.warmUp();
      fixture.service.revoke('all');
      fixture.service.api.always(({ path }) =>
        path === '/api/v1/' ? { status: 302, headers: { location: '/api/v1/target' } } : undefined,
      );
      // A client that does not see the redirects cannot send the last request again, and returns
      // the 401.
      const { status } = await fixture.send();
      assert.ok(status === 200 || status === 401, `the status is ${status}`);
      expectStatus(await fixture.send(), 200);
      expectIssued(fixture, 2);
    }),

    ...statuses.map((status) =>
      define(
        `a POST answered ${status} is not sent again when the request after it is answered 401`,
        async (fixture) => {
          await fixture.warmUp();
          fixture.service.api.next({ status, headers: { location: '/api/v1/target' } }, { status: 401 });
          const headers = { 'content-type': 'text/plain' };
          const answer = await fixture.send({ method: 'POST', headers, body: { kind: 'string', value: 'order' } });
          const [first, redirected, ...resent] = fixture.apiRequests();
          assert.equal(`${first?.method} ${first?.path} ${first?.body.text}`, 'POST /api/v1/ order');
          // A client that does not show its redirects to the adapter leaves the 401 to the caller.
          assert.deepEqual(
            resent.map(({ method, path, body }) => ({ method, path, text: body.text })),
            answer.status === 200
              ? [{ method: redirected?.method, path: '/api/v1/target', text: redirected?.body.text }]
              : [],
            'a request other than the last one was sent again',
          );
          assert.ok(answer.status === 200 || answer.status === 401);
          assert.equal(rejections(fixture).length, 1);
        },
      ),
    ),

    define('the answer that redirects does not keep its connection', (fixture) =>
      connectionsStayFew(fixture, { status: 302, headers: { location: '/api/v1/target' }, body: unread }),
    ),
  ];
}
