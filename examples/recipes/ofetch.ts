// ofetch takes a `fetch` as the second argument of `create`.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ofetch
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { ofetch } from 'ofetch';
import type { Order } from './shop.ts';

const auth = createServiceAuthFromEnv(process.env);
const api = ofetch.create({ baseURL: process.env['SERVICE_BASE_URL'] ?? '' }, { fetch: createAuthFetch(auth) });

console.log(await api<Order[]>('/api/v1/orders'));
console.log(await api<Order>('/api/v1/orders', { method: 'POST', body: { item: 'tea' } }));
