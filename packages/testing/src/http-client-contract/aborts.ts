import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  arrival,
  type Bench,
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectSent,
  expectStatus,
  within,
} from './bench.ts';

const rejected = (response: Promise<unknown>) =>
  assert.rejects(response, () => true, 'the request resolved instead of rejecting');

/** Aborts, and waits for the client to notice while everything else stands still. */
async function abort(controller: AbortController, response: Promise<unknown>): Promise<void> {
  controller.abort();
  await within(rejected(response), 'the aborted request');
}

async function nextRequestSucceeds({ send, service }: Bench, issued: number): Promise<void> {
  expectStatus(await send(), 200);
  expectIssued({ service }, issued);
}

/** A caller that gives up, at every stage of a request. */
export function abortCases(define: DefineCase): ContractCase[] {
  return [
    define('a request aborted beforehand sends nothing', async ({ service, send }) => {
      await rejected(send({ signal: AbortSignal.abort() }));
      assert.equal(service.counts.tokenRequests, 0, 'a token was asked for');
      assert.equal(service.counts.apiRequests, 0, 'the aborted request was sent');
    }),

    define('an abort while waiting for a token ends the wait at once, and the token is not lost', async (bench) => {
      const held = bench.service.tokenEndpoint.hold();
      const controller = new AbortController();
      const response = bench.send({ signal: controller.signal });
      await arrival(held, response);
      await abort(controller, response);
      held.release();
      await nextRequestSucceeds(bench, 1);
      assert.equal(bench.service.counts.apiRequests, 1, 'the aborted request was sent');
    }),

    define('an abort while waiting for a token leaves other callers alone', async (bench) => {
      const held = bench.service.tokenEndpoint.hold();
      const controller = new AbortController();
      const aborted = bench.send({ signal: controller.signal });
      const other = bench.send();
      await arrival(held, other);
      await abort(controller, aborted);
      held.release();
      expectStatus(await other, 200);
      expectIssued(bench, 1);
    }),

    define('an abort while waiting for another token after a 401 ends the wait at once', async (bench) => {
      await bench.warmUp();
      bench.service.revoke('all');
      const held = bench.service.tokenEndpoint.hold();
      const controller = new AbortController();
      const response = bench.send({ signal: controller.signal });
      await arrival(held, response);
      await abort(controller, response);
      held.release();
      await nextRequestSucceeds(bench, 2);
      assert.equal(bench.apiRequests().length, 2, 'the aborted request was sent again');
    }),

    define('an abort while the API answers ends the request, and the token stays', async (bench) => {
      const held = bench.service.api.hold();
      const controller = new AbortController();
      const response = bench.send({ signal: controller.signal });
      await arrival(held, response);
      await abort(controller, response);
      held.release();
      await nextRequestSucceeds(bench, 1);
      assert.equal(bench.service.counts.apiRequests, 2, 'the aborted request was sent again');
      expectNoRejection(bench);
    }),

    define("the client's own timeout ends a request, and the token stays", async (bench) => {
      await bench.warmUp();
      const held = bench.service.api.hold();
      await within(rejected(bench.send({ timeoutMs: 50 })), 'a request with a timeout of 50 ms');
      held.release();
      await nextRequestSucceeds(bench, 1);
      expectSent(bench, 2);
      expectNoRejection(bench);
    }),
  ];
}
