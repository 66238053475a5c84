// A service of Cloud Run, with the record in Memorystore for Redis or Valkey.
import { createServer } from 'node:http';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { createClient } from 'redis';

const client = createClient({ url: `${process.env['REDIS_URL']}` });
client.on('error', (error) => console.error(error.message || error.code)); // The event store_failed has no message.
client.connect().catch(() => {}); // Without `await`: the instance starts also while Redis is down.

const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(client),
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

const server = createServer(async (_request, response) => {
  try {
    const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
    if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
    const body = await orders.text();
    response.writeHead(orders.status).end(body);
  } catch (error) {
    const unavailable = serviceUnavailable(error);
    if (!unavailable) console.error(error);
    const { status, headers } = unavailable ?? { status: 502, headers: {} };
    response.writeHead(status, headers).end('Please try again later.');
  }
});
server.listen(Number(process.env['PORT'] ?? 8080));

// Cloud Run gives ten seconds after SIGTERM.
process.once('SIGTERM', async () => {
  server.close();
  await auth.close();
  client.destroy();
});
