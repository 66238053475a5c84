// Fastify: an API call in a handler, and 503 with `Retry-After` when there is no token.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts fastify
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import Fastify, { type FastifyError } from 'fastify';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));
const app = Fastify();

app.get('/orders', async (_request, reply) => {
  const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  return reply.code(orders.status).send(await orders.json());
});

app.setErrorHandler<FastifyError>((error, request, reply) => {
  const unavailable = serviceUnavailable(error);
  if (unavailable) {
    return reply.code(unavailable.status).headers(unavailable.headers).send({ message: 'Please try again later.' });
  }
  // Fastify answers errors of the user as usual. It would send the messages of all others, too.
  if (error.statusCode !== undefined && error.statusCode < 500) throw error;
  request.log.error(error);
  return reply.code(500).send({ message: 'Internal Server Error' });
});

await app.listen({ port: Number(process.env['PORT'] ?? 3000) });
console.log('Listening on', app.server.address());
