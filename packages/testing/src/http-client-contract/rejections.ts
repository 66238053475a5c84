import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import { connectionsStayFew, type DefineCase, rejections, unread } from './bench.ts';

const many = 20;

/** What a 401 of the API leads to. */
export function rejectionCases(define: DefineCase): ContractCase[] {
  return [
    define('a 401 leads to one new token and one resend of the same request', async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      const url = `${service.baseUrl}/api/v1/items?page=2`;
      const { status } = await send({ method: 'PUT', url, headers: { 'x-request-id': 'r-1' } });
      assert.equal(status, 200);
      const [first, second, ...others] = bench.apiRequests();
      assert.deepEqual(others, []);
      assert.deepEqual([first?.bearer, second?.bearer], ['revoked', 'valid']);
      const facts = [first, second].map((request) => [
        request?.method,
        request?.path,
        request?.headers['x-request-id'],
      ]);
      assert.deepEqual(facts[0], ['PUT', '/api/v1/items?page=2', 'r-1']);
      assert.deepEqual(facts[1], facts[0]);
      assert.equal(service.counts.issued, 2);
    }),

    define('a second 401 is returned as it came', async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.api.always({ status: 401, body: '{"error":"as it came"}' });
      assert.deepEqual(await send(), { status: 401, text: '{"error":"as it came"}' });
      assert.equal(bench.apiRequests().length, 2);
      assert.equal(service.counts.issued, 2);
    }),

    define('a second 401 is reported like the first one', async (bench) => {
      await bench.warmUp();
      bench.service.api.always({ status: 401 });
      assert.equal((await bench.send()).status, 401);
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
      assert.equal((await bench.send()).status, 200);
      assert.equal(bench.apiRequests().length, 2);
    }),

    define(`${many} simultaneous 401s cost one token`, async (bench) => {
      const { service, send } = bench;
      await bench.warmUp();
      service.revoke('all');
      const responses = await Promise.all(Array.from({ length: many }, () => send()));
      assert.ok(responses.every(({ status }) => status === 200));
      assert.equal(service.counts.issued, 2);
      assert.ok(bench.apiRequests().length <= 2 * many);
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
        assert.equal(status, 200);
        waiting.delete(index);
        // Renewals are spaced, which would hide a client that gives up the new token for a 401 of the old one.
        await bench.clock.advance(2 * 60_000);
      }
      assert.equal(bench.apiRequests().length, 2 * many);
      assert.equal(service.counts.issued, 2);
    }),

    define(
      'an API that always answers 401 costs at most one token more in a minute, whatever is sent',
      async (bench) => {
        const { service, send } = bench;
        await bench.warmUp();
        service.api.always({ status: 401 });
        for (let count = 0; count < 100; count++) assert.equal((await send()).status, 401);
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
      assert.equal((await send()).status, 401);
      assert.equal(bench.apiRequests().length, 1);
    }),

    define('a 403 never costs a token and is not sent again', async (bench) => {
      await bench.warmUp();
      bench.service.api.always({ status: 403 });
      assert.equal((await bench.send()).status, 403);
      assert.equal(bench.apiRequests().length, 1);
      assert.equal(bench.service.counts.tokenRequests, 1);
      assert.deepEqual(rejections(bench), []);
    }),

    define('other errors of the API are returned as they came', async (bench) => {
      await bench.warmUp();
      for (const status of [400, 404, 429, 500, 503]) {
        bench.service.api.next({ status, body: `answer ${status}` });
        assert.deepEqual(await bench.send(), { status, text: `answer ${status}` });
      }
      assert.equal(bench.apiRequests().length, 5);
      assert.deepEqual(rejections(bench), []);
    }),
  ];
}
