// Express: an API call in a handler, and 503 with `Retry-After` when there is no token.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts express
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import express, { type ErrorRequestHandler } from 'express';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));
const app = express();

app.get('/orders', async (_request, response) => {
  const orders = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  response.status(orders.status).json(await orders.json());
});

// After the routes. Express knows an error handler by its four parameters.
const answerUnavailable: ErrorRequestHandler = (error, _request, response, next) => {
  const unavailable = serviceUnavailable(error);
  if (!unavailable || response.headersSent) return next(error);
  response.status(unavailable.status).set(unavailable.headers).json({ message: 'Please try again later.' });
};
app.use(answerUnavailable);

const server = app.listen(Number(process.env['PORT'] ?? 3000), () => console.log('Listening on', server.address()));
