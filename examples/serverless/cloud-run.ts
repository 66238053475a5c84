// A service of Cloud Run, with the record in Memorystore for Redis or Valkey.
import { createServer } from 'node:http';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';

const client = createClient({ url: `${process.env['REDIS_URL']}` });
client.on('error', () => {}); // The event store_failed reports it.
client.connect().catch(() => {}); // Without `await`: the instance starts also while Redis is down.

const auth = createServiceAuthFromEnv(process.env, { store: redisStore(client) });
const authFetch = createAuthFetch(auth);

const server = createServer(async (_request, response) => {
  try {
    const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
    response.writeHead(orders.status).end(await orders.text());
  } catch {
    response.writeHead(503).end(); // The event token_unavailable says why.
  }
});
server.listen(Number(process.env['PORT'] ?? 8080));

// Cloud Run gives ten seconds after SIGTERM.
process.once('SIGTERM', async () => {
  server.close();
  await auth.close();
  client.destroy();
});
