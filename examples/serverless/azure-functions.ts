// Azure Functions, programming model 4, with the record in Azure Managed Redis: save it as src/functions/orders.ts.
import { app } from '@azure/functions';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';

const client = createClient({ url: `${process.env['REDIS_URL']}` });
client.on('error', (error) => console.error(error.message || error.code)); // The event store_failed has no message.
client.connect().catch(() => {});

const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(client),
  instance: process.env['WEBSITE_INSTANCE_ID']?.slice(-64),
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

export async function orders(): Promise<{ status: number; headers?: Readonly<Record<string, string>>; body: string }> {
  try {
    const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
    if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
    return { status: response.status, body: await response.text() };
  } catch (error) {
    const unavailable = serviceUnavailable(error);
    if (!unavailable) throw error;
    return { ...unavailable, body: 'Please try again later.' };
  }
}

app.http('orders', { methods: ['GET'], authLevel: 'function', handler: orders });
