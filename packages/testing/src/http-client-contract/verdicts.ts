import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import { causesOf, rejectionOf } from './failures.ts';
import {
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectSent,
  expectStatus,
  type Fixture,
  rejections,
} from './fixture.ts';
import type { HttpClientIsRejected } from './subject.ts';

const is403: HttpClientIsRejected = ({ status }) => status === 403;
const isOdd: HttpClientIsRejected = async ({ status }) => status === 299;
const broken = new Error('isRejected is broken');
const throws: HttpClientIsRejected = () => {
  throw broken;
};

async function isSentOnceMore(fixture: Fixture, status: number): Promise<void> {
  await fixture.warmUp();
  fixture.service.api.next({ status });
  expectStatus(await fixture.send(), 200);
  expectSent(fixture, 2);
  expectIssued(fixture, 2);
  assert.equal(rejections(fixture).length, 1, 'the rejected token was not reported once');
}

async function isReported(fixture: Fixture, status: number): Promise<void> {
  await fixture.warmUp();
  fixture.service.api.next({ status });
  // Some clients send no stream again.
  await fixture.send({ streamed: true });
  assert.equal(rejections(fixture).length, 1, 'the rejected token was not reported once');
  await fixture.send({ streamed: true });
  const [first, ...others] = fixture.apiRequests().map(({ tokenId }) => tokenId);
  assert.ok(!others.includes(first), 'the next stream had the rejected token');
}

async function failsWithBroken(fixture: Fixture): Promise<void> {
  const causes = causesOf(await rejectionOf(fixture.send()));
  assert.ok(causes.includes(broken), 'the request did not fail with what isRejected threw');
  expectSent(fixture, 1);
  expectNoRejection(fixture);
}

/** The application says which answers reject the token, in place of the status 401. */
export function verdictCases(define: DefineCase): ContractCase[] {
  const asked: number[] = [];
  const note: HttpClientIsRejected = ({ status }) => {
    asked.push(status);
    return false;
  };
  return [
    define(
      'an answer that isRejected takes for a rejection leads to one new token and one resend',
      (fixture) => isSentOnceMore(fixture, 403),
      { isRejected: is403 },
    ),

    define(
      'a successful answer that a promise of isRejected takes for a rejection leads to one new token and one resend',
      (fixture) => isSentOnceMore(fixture, 299),
      { isRejected: isOdd },
    ),

    define(
      'a second answer that isRejected takes for a rejection is reported, and returned as it came',
      async (fixture) => {
        await fixture.warmUp();
        fixture.service.api.always({ status: 403, body: '{"error":"as it came"}' });
        assert.deepEqual(await fixture.send(), { status: 403, text: '{"error":"as it came"}' }, 'the 403 was changed');
        expectSent(fixture, 2);
        const reported = rejections(fixture).map((event) => 'tokenId' in event && event.tokenId);
        assert.equal(new Set(reported).size, 2, 'a rejected token was not reported');
      },
      { isRejected: is403 },
    ),

    define(
      'a 401 that isRejected does not take for a rejection is returned, and says nothing about the token',
      async (fixture) => {
        await fixture.warmUp();
        fixture.service.api.next({ status: 401, body: 'no order' });
        assert.deepEqual(
          await fixture.send(),
          { status: 401, text: 'no order' },
          'the 401 was not returned as it came',
        );
        expectSent(fixture, 1);
        expectNoRejection(fixture);
      },
      { isRejected: is403 },
    ),

    define(
      'an answer to a stream that isRejected takes for a rejection is reported, and the next stream has a new token',
      (fixture) => isReported(fixture, 403),
      { isRejected: is403 },
    ),

    define(
      'a successful answer to a stream that isRejected takes for a rejection is reported, too',
      (fixture) => isReported(fixture, 299),
      { isRejected: isOdd },
    ),

    define('a request fails with what isRejected throws, and nothing is reported', failsWithBroken, {
      isRejected: throws,
    }),

    define('a request fails with what isRejected rejects with, and nothing is reported', failsWithBroken, {
      isRejected: async (answer) => throws(answer),
    }),

    define(
      'isRejected is asked only about requests that had the token',
      async ({ service, foreign, send }) => {
        const before = asked.length;
        await send({ optOut: true });
        await send({ headers: { Authorization: 'Bearer own' } });
        await send({ url: `${foreign.url}/` });
        assert.deepEqual(asked.slice(before), [], 'isRejected was asked about a request without the token');
        service.api.next({ status: 404 });
        expectStatus(await send(), 404);
        assert.deepEqual(asked.slice(before), [404], 'isRejected was not asked once');
      },
      { isRejected: note },
    ),
  ];
}
