// ky takes a `fetch`.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ky
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import ky from 'ky';
import type { Order } from './shop.ts';

const auth = createServiceAuthFromEnv(process.env);
// ky creates a Request, and its body can be read once. `bufferRequests` copies the body, so that it can be sent again after a 401.
const fetch = createAuthFetch(auth, { bufferRequests: true });
const api = ky.create({ baseUrl: process.env['SERVICE_BASE_URL'] ?? '', fetch }); // In ky 1: `prefixUrl`, and no slash before the path.

console.log(await api('/api/v1/orders').json<Order[]>());
console.log(await api.post('/api/v1/orders', { json: { item: 'tea' } }).json<Order>());
