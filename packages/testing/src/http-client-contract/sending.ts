import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ContractCase } from '../contract/contract-case.ts';
import { type DefineCase, expectIssued, expectStatus } from './fixture.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Every request to the API carries the token, unless it has an `Authorization` of its own. */
export function sendingCases(define: DefineCase): ContractCase[] {
  return [
    define('sends the token as a bearer, and everything else as it was', async ({ service, send }) => {
      const url = `${service.baseUrl}/api/v1/items?page=2`;
      const { status, text } = await send({ method: 'PUT', url, headers: { 'x-request-id': 'r-1' } });
      expectStatus({ status }, 200);
      assert.match(text, /"bearer":"valid"/);
      const [request, ...others] = service.apiRequests;
      assert.deepEqual(others, []);
      assert.equal(request?.bearer, 'valid');
      assert.equal(request.method, 'PUT');
      assert.equal(request.path, '/api/v1/items?page=2');
      assert.equal(request.headers['x-request-id'], 'r-1', "a header of the caller's is missing");
    }),

    define('one token serves many requests', async ({ service, send }) => {
      for (let count = 0; count < 5; count++) expectStatus(await send(), 200);
      expectIssued({ service }, 1);
    }),

    define('20 simultaneous requests without a token cost one', async ({ service, send }) => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => send()));
      for (const response of responses) expectStatus(response, 200);
      assert.equal(service.counts.tokenRequests, 1, `${service.counts.tokenRequests} tokens were asked for`);
    }),

    define('the API in another spelling gets the token all the same', async ({ service, send }) => {
      const { status } = await send({ url: `${service.baseUrl.replace('http:', 'HTTP:')}/api/v1/` });
      expectStatus({ status }, 200);
    }),

    define("the caller's own Authorization wins, and its 401 is its own affair", async (fixture) => {
      const { service, send } = fixture;
      await fixture.warmUp();
      const names = ['authorization', 'Authorization', 'AUTHORIZATION'];
      for (const name of names) expectStatus(await send({ headers: { [name]: 'Bearer own' } }), 401);
      expectStatus(await send({ headers: { Authorization: 'Basic b3duOm93bg==' } }), 401);
      const expected = ['Bearer own', 'Bearer own', 'Bearer own', 'Basic b3duOm93bg=='];
      const received = fixture.apiRequests().map(({ authorizationSha256 }) => authorizationSha256);
      assert.deepEqual(received, expected.map(sha256));
      expectIssued({ service }, 1);
      assert.ok(fixture.events.every(({ type }) => type !== 'token_rejected'));
    }),

    define(
      "an Authorization of the caller's own is reported once, and only where the token would go",
      async (fixture) => {
        const { send, foreign, events } = fixture;
        const headers = { authorization: 'Bearer own' };
        const reports = () => events.filter(({ type }) => type === 'token_bypassed').length;
        await send({ headers, optOut: true });
        await send({ headers, url: foreign.url });
        assert.equal(reports(), 0, 'a request was reported that would get no token anyway');
        await send({ headers });
        await send({ headers });
        assert.equal(reports(), 1, `${reports()} reports instead of 1`);
        expectIssued(fixture, 0);
      },
    ),

    define('a request that opted out gets no token, and needs none', async ({ service, send, events }) => {
      const { status } = await send({ optOut: true });
      expectStatus({ status }, 401);
      assert.deepEqual(
        service.apiRequests.map(({ bearer }) => bearer),
        ['none'],
      );
      assert.equal(service.counts.tokenRequests, 0);
      assert.deepEqual(events, [], 'the request caused an event');
    }),
  ];
}
