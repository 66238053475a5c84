import { join } from 'node:path';
import { startService } from '@service-auth/test-support/service';
import { secretCanary } from '@service-auth/test-tools/canaries';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import type { TestServer } from '@service-auth/test-tools/servers/server';
import type { TestService, TestServiceOptions } from '@service-auth/testing';
import { emptyFolder } from './program.ts';

const clientId = 'client-of-tests';

/** The service for one test, whose client secret is a canary. */
export function startCanaryService(options: TestServiceOptions = {}): Promise<TestService> {
  const audiences = ['https://api.example/', 'https://other.example/'];
  return startService({ clients: [{ clientId, clientSecret: secretCanary, audiences }], ...options });
}

/** The variables with which the program uses the service. */
export function variablesOf({ env }: TestService, store: string): Record<string, string | undefined> {
  return { ...env, SERVICE_AUTH_STORE: store, SERVICE_AUTH_HEADERS: `x-api-key=${secretCanary}` };
}

export interface TestStore {
  readonly name: string;
  /** The address of a store that is empty, for one test. */
  readonly address: () => string;
}

export const redis: TestServer | undefined = await orSkip(() => startRedis());
export const postgres: TestServer | undefined = await orSkip(() => startPostgres());
let count = 0;

/** One store of each kind that the program serves. */
export const stores: readonly TestStore[] = [
  { name: 'file', address: () => `file:${join(emptyFolder(), 'store')}` },
  ...(redis ? [{ name: 'Redis', address: () => `${redis.url}?prefix=test-${++count}:` }] : []),
  ...(postgres ? [{ name: 'PostgreSQL', address: () => `${postgres.url}?table=test_${++count}` }] : []),
];
