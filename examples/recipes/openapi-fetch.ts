// openapi-fetch takes a `fetch`.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts openapi-fetch
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import createClient from 'openapi-fetch';
import type { paths } from './shop.ts';

const auth = createServiceAuthFromEnv(process.env);
// openapi-fetch creates a Request, and its body can be read once. `bufferRequests` copies the body, so that it can be sent again after a 401.
const fetch = createAuthFetch(auth, { bufferRequests: true });
const api = createClient<paths>({ baseUrl: process.env['SERVICE_BASE_URL'] ?? '', fetch });

const { data: orders } = await api.GET('/api/v1/orders');
console.log(orders);

const { data: order } = await api.POST('/api/v1/orders', { body: { item: 'tea' } });
console.log(order);
