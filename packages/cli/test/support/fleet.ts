import {
  createServiceAuth,
  createUsageReader,
  memoryStore,
  type ServiceAuth,
  type ServiceAuthOptions,
  type Store,
  type Usage,
} from '@service-auth/core';
import { failuresInRow } from '@service-auth/core/record';
import { minute } from '@service-auth/test-tools/units';
import {
  createTestClock,
  startTestService,
  type TestClock,
  type TestService,
  type TestServiceOptions,
} from '@service-auth/testing';
import { onTestFinished } from 'vitest';
import type { Failure } from '../../src/report/usage.ts';

/** A fleet in a day that takes no time: real clients, a real token endpoint and one store, on a clock of the test. */
export interface Fleet {
  readonly clock: TestClock;
  readonly service: TestService;
  readonly store: Store;
  /** Starts a program of this name. It is a new one each time, without a memory. */
  start(instance: string, options?: Partial<ServiceAuthOptions>): ServiceAuth;
  /** Lets so many minutes pass. */
  pass(minutes: number): Promise<void>;
  usage(): Promise<Usage>;
  /** The failures in a row that the record remembers. */
  failures(): Promise<readonly Failure[]>;
}

export async function startFleet(options: TestServiceOptions & { readonly tokens?: number } = {}): Promise<Fleet> {
  const clock = createTestClock({ now: Date.UTC(2026, 10, 21, 3, 0) });
  const service = await startTestService({ clock, ...options });
  onTestFinished(() => service.close());
  const store: Store = { ...memoryStore({ clock }), durability: 'durable' };
  const { authUrl, credentials } = service;
  const { clientId } = credentials;
  const issuanceLimit = options.tokens === undefined ? {} : { issuanceLimit: { tokens: options.tokens } };
  const reader = createUsageReader({ store, authUrl, clientId, clock });
  return {
    clock,
    service,
    store,
    // Clients of one store object are one process to core.
    start: (instance, more) =>
      createServiceAuth({ ...service.options, ...issuanceLimit, store: { ...store }, instance, ...more }),
    async pass(minutes) {
      for (let left = minutes; left > 0; left -= 30) await clock.advance(Math.min(30, left) * minute);
    },
    usage: () => reader.getUsage(),
    async failures() {
      const { record = '', now } = await store.load(await reader.recordKey);
      return failuresInRow(record, now);
    },
  };
}

/** A call whose outcome does not matter: it may be refused. */
export async function tried(call: Promise<unknown>): Promise<void> {
  await call.catch(() => {});
}
