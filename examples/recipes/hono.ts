// Hono: an API call in a handler, and 503 with `Retry-After` when there is no token.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts hono
import { serve } from '@hono/node-server';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { Hono } from 'hono';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));
const app = new Hono();

app.get('/orders', async (context) => {
  const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, {
    signal: context.req.raw.signal,
  });
  if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  return context.json(await orders.json(), orders.ok ? 200 : 502);
});

app.onError((error, context) => {
  const unavailable = serviceUnavailable(error);
  if (!unavailable) return context.text('Internal Server Error', 500);
  return context.json({ message: 'Please try again later.' }, unavailable);
});

serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000) }, (address) =>
  console.log('Listening on', address),
);
