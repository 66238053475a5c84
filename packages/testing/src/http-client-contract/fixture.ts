import assert from 'node:assert/strict';
import type { ServiceAuthEvent, ServiceAuthOptions } from '@service-auth/core';
import { createTestClock, type TestClock } from '../clock/test-clock.ts';
import type { ContractCase } from '../contract/contract-case.ts';
import { within } from '../contract/within.ts';
import type { RecordedApiRequest } from '../service/api.ts';
import { type ForeignOrigin, startForeignOrigin } from '../service/foreign-origin.ts';
import type { PausedRequest, ScriptedAnswer } from '../service/script.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../service/test-service.ts';
import type {
  ConnectHttpClient,
  HttpClientIsRejected,
  HttpClientRequest,
  HttpClientResponse,
  HttpClientSubject,
  HttpClientTraits,
} from './subject.ts';

/** All that a case works with: the service, a foreign host, and the client between them. */
export interface Fixture {
  readonly service: TestService;
  readonly foreign: ForeignOrigin;
  readonly clock: TestClock;
  readonly subject: HttpClientSubject;
  readonly traits: HttpClientTraits;
  /** The events of core, so that a case sees an `invalidate` that cost nothing. */
  readonly events: readonly ServiceAuthEvent[];
  /** Sends a GET to `/api/v1/`, or what `request` says. */
  send(request?: Partial<HttpClientRequest>): Promise<HttpClientResponse>;
  /** Has a token issued and used, and forgets that request. */
  warmUp(): Promise<void>;
  /** The requests that the API received since the last `warmUp`. */
  apiRequests(): readonly RecordedApiRequest[];
}

/** Makes cases of one suite: all share the client under test and the key that signs tokens. */
export type DefineCase = (
  name: string,
  run: (fixture: Fixture) => Promise<void>,
  options?: {
    service?: TestServiceOptions;
    client?: (service: TestService) => Partial<ServiceAuthOptions>;
    isRejected?: HttpClientIsRejected;
  },
) => ContractCase;

// Real time, and only for clients that never answer: a case takes milliseconds.
const caseLimitMs = 60_000;

/** Waits until a request of `response` is paused. Rejects if the client is done without it. */
export async function arrival({ arrived }: PausedRequest, response: Promise<unknown>): Promise<void> {
  const unexpected = response.then(() =>
    assert.fail('the client answered before it sent the request that was to be paused'),
  );
  await Promise.race([arrived, unexpected]);
}

/** The rejections that the API's answers caused. */
export function rejections({ events }: Fixture): readonly ServiceAuthEvent[] {
  return events.filter((event) => event.type === 'token_rejected');
}

/** Expects an answer with this status. */
export function expectStatus(answer: Pick<HttpClientResponse, 'status'>, status: number): void {
  assert.equal(answer.status, status, `the client returned ${answer.status} instead of ${status}`);
}

/** Expects that the token endpoint has issued `count` tokens. */
export function expectIssued({ service }: Pick<Fixture, 'service'>, count: number): void {
  assert.equal(service.counts.issued, count, `${service.counts.issued} tokens were issued instead of ${count}`);
}

/** Expects that the API has received `count` requests since the last `warmUp`. */
export function expectSent(fixture: Pick<Fixture, 'apiRequests'>, count: number): void {
  const { length } = fixture.apiRequests();
  assert.equal(length, count, `the API received ${length} requests instead of ${count}`);
}

/** Expects that no token was reported as rejected. */
export function expectNoRejection(fixture: Fixture): void {
  assert.deepEqual(rejections(fixture), [], 'a token was reported as rejected');
}

/**
 * The body of an answer that is not for the caller: large enough that nobody receives it without
 * reading it.
 */
export const unread: string = 'x'.repeat(1_000_000);

/**
 * Sends requests that are answered 200 after `first`, one after the other. An answer that was not
 * freed keeps its connection.
 */
export async function connectionsStayFew({ service, send, clock }: Fixture, first: ScriptedAnswer): Promise<void> {
  const numbers: number[] = [];
  for (let count = 0; count < 20; count++) {
    service.api.next(first);
    service.api.next({});
    expectStatus(await send(), 200);
    numbers.push(service.counts.connections);
    // Renewals after a 401 are spaced.
    await clock.advance(61 * 60_000);
  }
  assert.ok(Math.max(...numbers) < 10, `${Math.max(...numbers)} connections are open`);
}

/**
 * A foreign host receives requests, and none of them has credentials. The message of the failure
 * does not quote them.
 */
export function foreignIsUnauthenticated({ foreign }: Fixture): void {
  assert.ok(foreign.requests.length > 0, 'the foreign host received nothing');
  assert.ok(!/authorization/i.test(foreign.received), 'an Authorization header reached a foreign host');
}

/** Checks at the end of every case that no secret was shown. */
function checkSecrecy({ service, foreign, events }: Fixture): void {
  assert.deepEqual(service.findSecrets(foreign.received), [], 'a secret reached a foreign host');
  // Recorded requests are without their Authorization header.
  const elsewhere = JSON.stringify([service.apiRequests, service.tokenRequests]);
  assert.deepEqual(service.findSecrets(elsewhere), [], 'a secret was sent in a URL, a body or another header');
  assert.deepEqual(service.findSecrets(JSON.stringify(events)), [], 'an event contains a secret');
}

function createFixture(
  facts: Pick<Fixture, 'service' | 'foreign' | 'clock' | 'subject' | 'traits' | 'events'>,
): Fixture {
  const { service, subject } = facts;
  let apiRequestsBefore = 0;

  const fixture: Fixture = {
    ...facts,
    send(request) {
      const url = `${service.baseUrl}/api/v1/`;
      const defaults = { method: 'GET', url, headers: {}, body: undefined, signal: undefined } as const;
      return subject.request({ ...defaults, timeoutMs: undefined, optOut: false, streamed: false, ...request });
    },
    async warmUp() {
      expectStatus(await fixture.send(), 200);
      apiRequestsBefore = service.apiRequests.length;
    },
    apiRequests: () => service.apiRequests.slice(apiRequestsBefore),
  };
  return fixture;
}

export function caseDefiner(connect: ConnectHttpClient, traits: HttpClientTraits): DefineCase {
  return (name, run, { service: serviceOptions, client, isRejected } = {}) => ({
    name,
    async run() {
      const clock = createTestClock();
      const events: ServiceAuthEvent[] = [];
      const onEvent = (event: ServiceAuthEvent) => void events.push(event);
      const opened: { close(): Promise<void> }[] = [];
      function open<Resource extends { close(): Promise<void> }>(resource: Resource): Resource {
        opened.push(resource);
        return resource;
      }
      try {
        const service = open(await startTestService({ clock, ...serviceOptions }));
        const foreign = open(await startForeignOrigin({ clock }));
        const options = { ...service.options, onEvent, ...client?.(service) };
        const subject = open(await connect({ service, options, isRejected }));
        const fixture = createFixture({ service, foreign, clock, subject, traits, events });
        await within(run(fixture), 'the case', caseLimitMs);
        checkSecrecy(fixture);
      } finally {
        // All at once: a request that is still paused ends when the service closes, and until then
        // keeps the client open.
        await Promise.all(opened.map((resource) => resource.close()));
      }
    },
  });
}
