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
} from './bench.ts';

const many = 20;

/** The client answers a 401 of the API with one new token and one resend. */
export function rejectionCases(define: DefineCase): ContractCase[] {
  return [
    define('a 401 leads to one new token and one resend of the same request', async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      const url = `${service.baseUrl}/api/v1/items?page=2`;
      const { status } = await send({ method: 'PUT', url, headers: { 'x-request-id': 'r-1' } });
      expectStatus({ status }, 200);
      const [first, second, ...others] = bench.apiRequests();
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

    define('a second 401 is returned as it came', async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.api.always({ status: 401, body: '{"error":"as it came"}' });
      assert.deepEqual(await send(), { status: 401, text: '{"error":"as it came"}' }, 'the 401 was changed');
      expectSent(bench, 2);
      expectIssued({ service }, 2);
    }),

    define('a second 401 is reported like the first one', async (bench) => {
      await bench.warmUp();
      bench.service.api.always({ status: 401 });
      expectStatus(await bench.send(), 401);
      const reported = rejections(bench).map((event) => 'tokenId' in event && event.tokenId);
      assert.equal(new Set(bench.apiRequests().map(({ tokenId }) => tokenId)).size, 2);
      assert.equal(new Set(reported).size, 2, 'a rejected token was not reported');
    }),

    define('the 401 before a resend does not keep its connection', async (bench) => {
      await bench.warmUp();
      await connectionsStayFew(bench, { status: 401, body: unread });
    }),

    define('a 401 with a large body is followed by the resend', async (bench) => {
      await bench.warmUp();
      bench.service.api.next({ status: 401, body: 'x'.repeat(1_000_000) });
      expectStatus(await bench.send(), 200);
      expectSent(bench, 2);
    }),

    define(`${many} simultaneous 401s cost one token`, async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      const responses = await Promise.all(Array.from({ length: many }, () => send()));
      for (const response of responses) expectStatus(response, 200);
      expectIssued({ service }, 2);
      assert.ok(bench.apiRequests().length <= 2 * many, `${bench.apiRequests().length} requests were sent`);
    }),

    define(`${many} staggered 401s cost one token`, async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      const holds = Array.from({ length: many }, () => service.api.hold());
      const waiting = new Map(holds.map((_, index) => [index, send().then(({ status }) => ({ index, status }))]));
      await Promise.all(holds.map(({ arrived }) => arrived));
      for (const hold of holds) {
        hold.release();
        const { index, status } = await Promise.race(waiting.values());
        expectStatus({ status }, 200);
        waiting.delete(index);
        // Renewals are spaced, which would hide a client that gives up the new token for a 401 of the old one.
        await bench.clock.advance(2 * 60_000);
      }
      expectSent(bench, 2 * many);
      expectIssued({ service }, 2);
    }),

    define(
      'an API that always answers 401 costs at most one token more in a minute, whatever is sent',
      async (bench) => {
        const { service, send } = bench;
        await bench.warmUp();
        service.api.always({ status: 401 });
        for (let count = 0; count < 100; count++) expectStatus(await send(), 401);
        assert.ok(service.counts.issued <= 2, `${service.counts.issued} tokens were issued`);
        // The one renewal allows one resend; where the token stays the same, sending again is in vain.
        assert.ok(bench.apiRequests().length <= 101, `${bench.apiRequests().length} requests were sent`);
      },
    ),

    define('a 401 is returned when no other token is to be had', async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      service.tokenEndpoint.always({ status: 503 });
      expectStatus(await send(), 401);
      expectSent(bench, 1);
    }),

    define('a 403 never costs a token and is not sent again', async (bench) => {
      await bench.warmUp();
      bench.service.api.always({ status: 403 });
      expectStatus(await bench.send(), 403);
      expectSent(bench, 1);
      assert.equal(bench.service.counts.tokenRequests, 1, 'another token was asked for');
      expectNoRejection(bench);
    }),

    define('other errors of the API are returned as they came', async (bench) => {
      await bench.warmUp();
      for (const status of [400, 404, 429, 500, 503]) {
        bench.service.api.next({ status, body: `answer ${status}` });
        assert.deepEqual(
          await bench.send(),
          { status, text: `answer ${status}` },
          `the ${status} was not returned as it came`,
        );
      }
      expectSent(bench, 5);
      expectNoRejection(bench);
    }),
  ];
}
