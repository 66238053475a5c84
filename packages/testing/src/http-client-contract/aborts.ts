import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import { arrival, type Bench, type DefineCase, rejections, within } from './bench.ts';

/** Aborts, and waits for the client to notice while everything else stands still. */
async function abort(controller: AbortController, response: Promise<unknown>): Promise<void> {
  controller.abort();
  await within(assert.rejects(response), 'the aborted request');
}

async function nextRequestSucceeds({ send, service }: Bench, issued: number): Promise<void> {
  assert.equal((await send()).status, 200);
  assert.equal(service.counts.issued, issued);
}

/** A caller that gives up, at every stage of a request. */
export function abortCases(define: DefineCase): ContractCase[] {
  return [
    define('a request aborted beforehand sends nothing', async ({ service, send }) => {
      await assert.rejects(send({ signal: AbortSignal.abort() }));
      assert.equal(service.counts.tokenRequests, 0);
      assert.equal(service.counts.apiRequests, 0);
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
      assert.equal((await other).status, 200);
      assert.equal(bench.service.counts.issued, 1);
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
      assert.equal(bench.service.counts.apiRequests, 2);
      assert.deepEqual(rejections(bench), []);
    }),

    define("the client's own timeout ends a request, and the token stays", async (bench) => {
      await bench.warmUp();
      const held = bench.service.api.hold();
      await within(assert.rejects(bench.send({ timeoutMs: 50 })), 'a request with a timeout of 50 ms');
      held.release();
      await nextRequestSucceeds(bench, 1);
      assert.equal(bench.apiRequests().length, 2);
      assert.deepEqual(rejections(bench), []);
    }),
  ];
}
