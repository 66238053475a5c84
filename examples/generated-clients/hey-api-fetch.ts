// hey-api with its fetch client: `npx openapi-ts -i openapi.json -o generated/hey-api-fetch -c @hey-api/client-fetch`
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { client } from './generated/hey-api-fetch/client.gen.js';
import { createOrder, listOrders } from './generated/hey-api-fetch/index.js';

const auth = createServiceAuthFromEnv(process.env);
// Set no `auth`: a header of the request's own is sent as it is, and is not renewed.
client.setConfig({
  baseUrl: process.env['SERVICE_BASE_URL'],
  // hey-api creates a Request, and its body can be read once. `bufferRequests` copies the body, so that it can be sent again after a 401.
  fetch: createAuthFetch(auth, { bufferRequests: true }),
  // Without it our errors, as all others, arrive as the field `error` of the result.
  throwOnError: true,
});

const { data: orders } = await listOrders();
console.log(orders);

const { data: order } = await createOrder({ body: { item: 'tea' } });
console.log(order);
