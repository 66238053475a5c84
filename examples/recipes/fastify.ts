// Fastify: an API call in a handler, and 503 with `Retry-After` when there is no token.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts fastify
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import Fastify from 'fastify';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));
const app = Fastify();

app.get('/orders', async (_request, reply) => {
  const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  return reply.code(orders.status).send(await orders.json());
});

app.setErrorHandler((error, _request, reply) => {
  const unavailable = serviceUnavailable(error);
  if (!unavailable) throw error; // Fastify answers it as usual.
  return reply.code(unavailable.status).headers(unavailable.headers).send({ message: 'Please try again later.' });
});

await app.listen({ port: Number(process.env['PORT'] ?? 3000) });
console.log('Listening on', app.server.address());
