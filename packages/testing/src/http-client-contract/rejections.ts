import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  connectionsStayFew,
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectSent,
  expectStatus,
  rejections,
  unread,
} from './fixture.ts';

const many = 20;

/** The client answers a 401 of the API with one new token and one resend. */
export function rejectionCases(define: DefineCase): ContractCase[] {
  return [
    define('a 401 leads to one new token and one resend of the same request', async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.revoke('all');
      const url = `${service.baseUrl}/api/v1/items?page=2`;
      const { status } = await send({ method: 'PUT', url, headers: { 'x-request-id': 'r-1' } });
      expectStatus({ status }, 200);
      const [first, second, ...others] = fixture.apiRequests();
      assert.deepEqual(others, [], 'the request was sent more than twice');
      assert.deepEqual([first?.bearer, second?.bearer], ['revoked', 'valid'], 'the resend did not have another token');
      const facts = [first, second].map((request) => [
        request?.method,
        request?.path,
        request?.headers['x-request-id'],
      ]);
      assert.deepEqual(facts[0], ['PUT', '/api/v1/items?page=2', 'r-1']);
      assert.deepEqual(facts[1], facts[0]);
      expectIssued({ service }, 2);
    }),

    define('a second 401 is returned as it came', async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.api.always({ status: 401, body: '{"error":"as it came"}' });
      assert.deepEqual(await send(), { status: 401, text: '{"error":"as it came"}' }, 'the 401 was changed');
      expectSent(fixture, 2);
      expectIssued({ service }, 2);
    }),

    define('a second 401 is reported like the first one', async (fixture) => {
      await fixture.warmUp();
      fixture.service.api.always({ status: 401 });
      expectStatus(await fixture.send(), 401);
      const reported = rejections(fixture).map((event) => 'tokenId' in event && event.tokenId);
      assert.equal(new Set(fixture.apiRequests().map(({ tokenId }) => tokenId)).size, 2);
      assert.equal(new Set(reported).size, 2, 'a rejected token was not reported');
    }),

    define('a 401 to a stream is reported, and the next stream has a new token', async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.revoke('all');
      // Some clients send no stream again. Their caller gets the 401.
      await send({ streamed: true });
      assert.equal(rejections(fixture).length, 1, 'the rejected token was not reported once');
      expectStatus(await send({ streamed: true }), 200);
      assert.equal(fixture.apiRequests().at(-1)?.bearer, 'valid', 'the next stream did not have a valid token');
      expectIssued({ service }, 2);
    }),

    define(
      'a token that the API accepted, and that dies minutes later, is replaced at once each time',
      async (fixture) => {
        const { service, clock, send } = fixture;
        await fixture.warmUp();
        for (let death = 1; death <= 6; death++) {
          await clock.advance(6 * 60_000);
          service.revoke('all');
          expectStatus(await send(), 200);
          expectIssued({ service }, 1 + death);
        }
      },
    ),

    define('the 401 before a resend does not keep its connection', async (fixture) => {
      await fixture.warmUp();
      await connectionsStayFew(fixture, { status: 401, body: unread });
    }),

    define('a 401 with a large body is followed by the resend', async (fixture) => {
      await fixture.warmUp();
      fixture.service.api.next({ status: 401, body: 'x'.repeat(1_000_000) });
      expectStatus(await fixture.send(), 200);
      expectSent(fixture, 2);
    }),

    define(`${many} simultaneous 401s cost one token`, async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.revoke('all');
      const responses = await Promise.all(Array.from({ length: many }, () => send()));
      for (const response of responses) expectStatus(response, 200);
      expectIssued({ service }, 2);
      assert.ok(fixture.apiRequests().length <= 2 * many, `${fixture.apiRequests().length} requests were sent`);
    }),

    define(`${many} staggered 401s cost one token`, async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.revoke('all');
      const paused = Array.from({ length: many }, () => service.api.pauseNext());
      const waiting = new Map(paused.map((_, index) => [index, send().then(({ status }) => ({ index, status }))]));
      await Promise.all(paused.map(({ arrived }) => arrived));
      for (const request of paused) {
        request.resume();
        const { index, status } = await Promise.race(waiting.values());
        expectStatus({ status }, 200);
        waiting.delete(index);
        // Renewals are spaced, which would hide a client that gives up the new token for a 401 of
        // the old one.
        await fixture.clock.advance(2 * 60_000);
      }
      expectSent(fixture, 2 * many);
      expectIssued({ service }, 2);
    }),

    define(
      'an API that always answers 401 costs at most one token more in a minute, whatever is sent',
      async (fixture) => {
        const { service, send } = fixture;
        await fixture.warmUp();
        service.api.always({ status: 401 });
        for (let count = 0; count < 100; count++) expectStatus(await send(), 401);
        assert.ok(service.counts.issued <= 2, `${service.counts.issued} tokens were issued`);
        // The one renewal allows one resend; where the token stays the same, sending again is in
        // vain.
        assert.ok(fixture.apiRequests().length <= 101, `${fixture.apiRequests().length} requests were sent`);
      },
    ),

    define('a 401 is returned when no other token is to be had', async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      service.revoke('all');
      service.tokenEndpoint.always({ status: 503 });
      expectStatus(await send(), 401);
      expectSent(fixture, 1);
    }),

    define('a 403 never costs a token and is not sent again', async (fixture) => {
      await fixture.warmUp();
      fixture.service.api.always({ status: 403 });
      expectStatus(await fixture.send(), 403);
      expectSent(fixture, 1);
      assert.equal(fixture.service.counts.tokenRequests, 1, 'another token was asked for');
      expectNoRejection(fixture);
    }),

    define('other errors of the API are returned as they came', async (fixture) => {
      await fixture.warmUp();
      for (const status of [400, 404, 429, 500, 503]) {
        fixture.service.api.next({ status, body: `answer ${status}` });
        assert.deepEqual(
          await fixture.send(),
          { status, text: `answer ${status}` },
          `the ${status} was not returned as it came`,
        );
      }
      expectSent(fixture, 5);
      expectNoRejection(fixture);
    }),
  ];
}
