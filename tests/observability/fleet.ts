import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createServiceAuth } from '@service-auth/core';
import { redisStore } from '@service-auth/redis';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort } from '@service-auth/test-tools/servers/server';
import { startTestService, type TestService } from '@service-auth/testing';
import { createClient } from 'redis';

const windowMs = 60_000;
const limit = { tokens: 40, windowMs };
// With a reserve, a record that begins anew gives little for eight minutes.
const reserve = 0;

/** Something that goes wrong in a fleet, and the alerts that say so. */
interface Trouble {
  readonly name: string;
  readonly alerts: readonly string[];
  begin(): Promise<void>;
  /** Keeps up a trouble that passes by itself. It is called again and again until the alerts were seen. */
  keepUp?(): Promise<void>;
  end(): Promise<void>;
}

/** Six processes over a Redis, whose window lasts a minute. */
export interface Fleet extends AsyncDisposable {
  /** The ports at which the processes show their metrics. */
  readonly ports: readonly number[];
  readonly troubles: readonly Trouble[];
  /** Returns the number of token requests that the endpoint refused because of the limit. */
  refused(): number;
}

/** Starts the fleet. The sixth process counts in a record of its own until the first trouble ends. */
export async function startFleet(): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const service = await startTestService({ issuanceLimit: limit });
  stack.defer(() => service.close());
  const redis = stack.use(await startRedis({ appendonly: 'yes' }));
  const start = async (url: string) => stack.use(await startMember(service, url));
  const members = await Promise.all([1, 2, 3, 4, 5].map(() => start(redis.url)));
  const sixth = await start(`${redis.url}/1`);
  const client = createClient({ url: redis.url });
  client.on('error', () => {}); // Redis ends before the client.
  await client.connect();
  stack.defer(() => client.destroy());
  const auth = createServiceAuth({
    ...service.options,
    store: redisStore(client),
    issuanceLimit: { ...limit, reserve },
  });
  stack.defer(() => auth.close());

  async function spend(): Promise<void> {
    while ((await auth.getUsage()).available.reset > 0) {
      await auth.reset();
      await auth.getToken();
    }
  }

  const troubles: Trouble[] = [
    {
      name: 'two records',
      alerts: ['ServiceAuthTwoRecords'],
      begin: async () => {},
      async end() {
        await sixth[Symbol.asyncDispose]();
      },
    },
    {
      name: 'the token endpoint fails',
      alerts: ['ServiceAuthCallersRefused', 'ServiceAuthRenewalFails'],
      async begin() {
        service.tokenEndpoint.always({ status: 503 });
        await auth.reset();
      },
      async end() {
        service.tokenEndpoint.clear();
        await auth.retryNow();
      },
    },
    {
      name: 'the API rejects every token',
      alerts: ['ServiceAuthTokensRejected'],
      begin: async () => service.api.always({ status: 401 }),
      end: async () => service.api.clear(),
    },
    {
      name: 'tokens are wasted',
      alerts: ['ServiceAuthBudgetLow', 'ServiceAuthBudgetSpentSoon'],
      begin: spend,
      keepUp: spend,
      end: async () => {}, // It ends with the window.
    },
  ];
  const owned = stack.move();
  return {
    ports: [...members, sixth].map(({ port }) => port),
    troubles,
    refused: () => service.counts.refused,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts a process over a Redis. It shows its metrics at the port. */
async function startMember({ env }: TestService, redisUrl: string) {
  const port = await freePort();
  const own = { SERVICE_AUTH_RESERVE: `${reserve}`, REDIS_URL: redisUrl, METRICS_PORT: `${port}` };
  const child = fork(fileURLToPath(new URL('member.ts', import.meta.url)), {
    execArgv: ['--conditions=@service-auth/source'],
    env: { PATH: process.env['PATH'], ...env, ...own },
  });
  async function end(): Promise<void> {
    if (!child.connected) return;
    child.disconnect();
    await once(child, 'exit');
  }
  return { port, [Symbol.asyncDispose]: end };
}
