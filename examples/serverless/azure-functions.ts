// Azure Functions, programming model 4, with the record in Azure Managed Redis: save it as src/functions/orders.ts.
import { app } from '@azure/functions';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';

const client = createClient({ url: `${process.env['REDIS_URL']}` });
client.on('error', () => {}); // The event store_failed reports it.
client.connect().catch(() => {});

const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(client),
  instance: process.env['WEBSITE_INSTANCE_ID']?.slice(-64),
});
const authFetch = createAuthFetch(auth);

export async function orders(): Promise<{ status: number; body: string }> {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  return { status: response.status, body: await response.text() };
}

app.http('orders', { methods: ['GET'], authLevel: 'function', handler: orders });
