import assert from 'node:assert/strict';
import {
  type Clock,
  createServiceAuth,
  isServiceAuthError,
  memoryStore,
  type ServiceAuthOptions,
  type Store,
  type Transport,
} from '@service-auth/core';
import { canariesIn, secretCanary } from '@service-auth/test-tools/canaries';
import { begun } from './records.ts';

/** The results of two calls of `getToken()`. */
export interface Attempt {
  /** The error of the first call; undefined if it got a token. */
  readonly error: unknown;
  readonly requests: number;
  /** The time of the wall clock, in epoch milliseconds. */
  readonly askedAt: number;
  /** The count of the record afterwards; undefined if it cannot be read. */
  readonly used: number | undefined;
}

/** Time that passes when somebody waits for it, at once. */
function createHastyClock(): Clock {
  let monotonic = 1_000_000;
  return {
    now: () => begun + monotonic,
    monotonic: () => monotonic,
    setTimer(callback, delayMs) {
      // Nobody waits for a timer of an hour: it keeps the process running while a request is under way.
      if (delayMs === 3_600_000) return () => {};
      const dueAt = monotonic + delayMs;
      const timer = setImmediate(() => {
        monotonic = Math.max(monotonic, dueAt);
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}

/** Options that are right. */
export const options: ServiceAuthOptions = {
  authUrl: 'https://auth.example.com',
  baseUrl: 'https://api.example.com/v1',
  audience: 'orders',
  clientId: 'client',
  clientSecret: secretCanary,
  issuanceLimit: { tokens: 12, windowMs: 86_400_000, reserve: 2 },
  timeoutMs: 30_000,
  storeKey: `${secretCanary} ${secretCanary}`,
  allowInsecureHttp: false,
  instance: 'process',
};

const refusing: Transport = () =>
  Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' }));

/** Asks twice, and searches every readable value for canaries. Every error must be a ServiceAuthError. */
export async function attempt(change: Partial<ServiceAuthOptions>): Promise<Attempt> {
  const clock = createHastyClock();
  const readable: unknown[] = [];
  const askedAt = clock.now();
  let requests = 0;
  const transport = change.transport ?? refusing;
  const auth = createServiceAuth({
    ...options,
    clock,
    store: memoryStore({ clock }),
    ...change,
    transport: (request) => {
      requests += 1;
      return transport(request);
    },
    onEvent: (event) => readable.push(event),
  });
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      (value) => void readable.push(value),
      (error: unknown) => {
        assert(isServiceAuthError(error), `not one of ours: ${error}`);
        const retryInMs = (error.retryAt ?? clock.now()) - clock.now();
        assert(retryInMs >= 0 && retryInMs <= 40 * 86_400_000, `${error.code}: try again in ${retryInMs} ms`);
        return error;
      },
    );
  const errors = [await errorOf(auth.getToken()), await errorOf(auth.getToken())];
  const usage = await auth.getUsage().catch((error: unknown) => {
    assert(isServiceAuthError(error), `not one of ours: ${error}`);
    errors.push(error);
    return undefined;
  });
  await auth.close();
  assert.deepEqual(canariesIn([...readable, ...errors, usage, auth]), []);
  return { error: errors[0], requests, askedAt, used: usage?.used };
}

/** A store with this record under every key, and how often somebody tried to replace it. */
export function storeWith(record: string): { store: Store; swaps(): number } {
  let swaps = 0;
  const now = begun + 86_400_000;
  const store: Store = {
    durability: 'durable',
    load: async () => ({ record, version: 'version', now }),
    swap: async () => {
      swaps += 1;
      return { swapped: true, now };
    },
  };
  return { store, swaps: () => swaps };
}
