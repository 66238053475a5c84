import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import { within } from '../contract/within.ts';
import type { PausedRequest } from '../service/script.ts';
import { arrival, type DefineCase, expectIssued, expectNoRejection, expectStatus, type Fixture } from './fixture.ts';

const rejected = (response: Promise<unknown>) =>
  assert.rejects(response, () => true, 'the request resolved instead of rejecting');

/** Aborts, and waits for the client to notice while everything else stands still. */
async function abort(controller: AbortController, response: Promise<unknown>): Promise<void> {
  controller.abort();
  await within(rejected(response), 'the aborted request');
}

/** Sends a request, and aborts it when it has come to the answer that is paused. */
async function abortAt(paused: PausedRequest, { send }: Fixture): Promise<void> {
  const controller = new AbortController();
  const response = send({ signal: controller.signal });
  await arrival(paused, response);
  await abort(controller, response);
  paused.resume();
}

async function nextRequestSucceeds({ send, service }: Fixture, issued: number): Promise<void> {
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

    define('an abort while waiting for a token ends the wait at once, and the token is not lost', async (fixture) => {
      const paused = fixture.service.tokenEndpoint.pauseNext();
      await abortAt(paused, fixture);
      await nextRequestSucceeds(fixture, 1);
      assert.equal(fixture.service.counts.apiRequests, 1, 'the aborted request was sent');
    }),

    define('an abort while waiting for a token leaves other callers alone', async (fixture) => {
      const paused = fixture.service.tokenEndpoint.pauseNext();
      const controller = new AbortController();
      const aborted = fixture.send({ signal: controller.signal });
      const other = fixture.send();
      await arrival(paused, other);
      await abort(controller, aborted);
      paused.resume();
      expectStatus(await other, 200);
      expectIssued(fixture, 1);
    }),

    define('an abort while waiting for another token after a 401 ends the wait at once', async (fixture) => {
      await fixture.warmUp();
      fixture.service.revoke('all');
      const paused = fixture.service.tokenEndpoint.pauseNext();
      await abortAt(paused, fixture);
      await nextRequestSucceeds(fixture, 2);
      assert.equal(fixture.apiRequests().length, 2, 'the aborted request was sent again');
    }),

    define('an abort while the API answers ends the request, and the token stays', async (fixture) => {
      const paused = fixture.service.api.pauseNext();
      await abortAt(paused, fixture);
      await nextRequestSucceeds(fixture, 1);
      assert.equal(fixture.service.counts.apiRequests, 2, 'the aborted request was sent again');
      expectNoRejection(fixture);
    }),

    define("the client's own timeout ends a request, and the token stays", async (fixture) => {
      await fixture.warmUp();
      const paused = fixture.service.api.pauseNext();
      await within(rejected(fixture.send({ timeoutMs: 50 })), 'a request with a timeout of 50 ms');
      paused.resume();
      await nextRequestSucceeds(fixture, 1);
      // On a busy machine the timeout ends the first request before the API receives it.
      const { length } = fixture.apiRequests();
      assert.ok(length <= 2, `the API received ${length} requests instead of at most 2`);
      expectNoRejection(fixture);
    }),
  ];
}
