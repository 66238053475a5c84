import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { ServiceAuthErrorCode, Store } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { type DefineCase, expectNoRejection, type Fixture } from './fixture.ts';

const member = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const brand = Symbol.for('@service-auth/error');

/** An error and the chain of its causes. */
export function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let current = error; current !== undefined && chain.length < 10; current = member(current, 'cause')) {
    chain.push(current);
  }
  return chain;
}

/** Our error as it was thrown, or as the cause of the client's own. */
function typedErrorIn(error: unknown): unknown {
  return causesOf(error).find((each) => member(each, brand) === true) ?? error;
}

/** The error with which a request fails. */
export async function rejectionOf(response: Promise<unknown>): Promise<unknown> {
  try {
    await response;
  } catch (error) {
    return error;
  }
  return assert.fail('the request did not fail');
}

function jsonOf(value: unknown): string {
  const seen = new Set<unknown>();
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return String(part);
    if (typeof part !== 'object' || part === null) return part;
    if (seen.has(part)) return undefined;
    seen.add(part);
    return part;
  });
}

/** Everything that somebody could log of an error, the chain of its causes included. */
function printed(error: unknown): string {
  const texts = causesOf(error).map((each) => `${String(each)}\n${member(each, 'stack')}\n${jsonOf(each)}`);
  return [...texts, inspect(error, { depth: Number.POSITIVE_INFINITY })].join('\n');
}

async function failsWith(fixture: Fixture, code: ServiceAuthErrorCode): Promise<void> {
  const error = await rejectionOf(fixture.send());
  const typed = (fixture.traits.failure ?? typedErrorIn)(error);
  assert.equal(member(typed, 'code'), code, `no ${code} was found in what the client rejected with`);
  if (code !== 'ERR_CLOSED') assert.equal(typeof member(typed, 'retryAt'), 'number', 'retryAt is missing');
  assert.deepEqual(fixture.service.findSecrets(printed(error)), [], 'the error contains a secret');
  assert.deepEqual(fixture.apiRequests(), [], 'a request was sent without a token');
}

const refuse = async (): Promise<never> => {
  throw new Error('connection refused');
};
const brokenStore: Store = { durability: 'durable', load: refuse, swap: refuse };

/** Failures reach the caller in the client's own way, and tell no secret. */
export function failureCases(define: DefineCase): ContractCase[] {
  return [
    define('ERR_TOKEN_ENDPOINT reaches the caller when the token endpoint is down', async (fixture) => {
      fixture.service.tokenEndpoint.always({ cut: 'request' });
      await failsWith(fixture, 'ERR_TOKEN_ENDPOINT');
    }),

    define('ERR_CREDENTIALS_REJECTED reaches the caller when the client secret is wrong', async (fixture) => {
      fixture.service.setClientSecret('another-secret-of-no-value');
      await failsWith(fixture, 'ERR_CREDENTIALS_REJECTED');
    }),

    define('ERR_RATE_LIMITED reaches the caller when the token endpoint answers 429', async (fixture) => {
      fixture.service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '60' } });
      await failsWith(fixture, 'ERR_RATE_LIMITED');
    }),

    define(
      'ERR_ISSUANCE_LIMIT reaches the caller when the limit is reached',
      async (fixture) => {
        await fixture.warmUp();
        await fixture.clock.advance(11 * 60_000);
        await failsWith(fixture, 'ERR_ISSUANCE_LIMIT');
      },
      { service: { lifetimeMs: 600_000 }, client: () => ({ issuanceLimit: { tokens: 1, reserve: 0 } }) },
    ),

    define('ERR_STORE reaches the caller when the store is down', (fixture) => failsWith(fixture, 'ERR_STORE'), {
      client: () => ({ store: brokenStore }),
    }),

    define('ERR_CLOSED reaches the caller after close()', async (fixture) => {
      await fixture.subject.auth.close();
      await failsWith(fixture, 'ERR_CLOSED');
    }),

    define('a broken connection to the API is reported by the client, without a secret', async (fixture) => {
      await fixture.warmUp();
      fixture.service.api.always({ cut: 'answer' });
      const error = await rejectionOf(fixture.send());
      const { printable = (value: unknown) => value } = fixture.traits;
      assert.deepEqual(fixture.service.findSecrets(printed(printable(error))), [], 'the error contains a secret');
      expectNoRejection(fixture);
    }),
  ];
}
