// hey-api with its axios client: `npx openapi-ts -i openapi.json -o generated/hey-api-axios -c @hey-api/client-axios`
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { client } from './generated/hey-api-axios/client.gen.js';
import { createOrder, listOrders } from './generated/hey-api-axios/index.js';

// Without `throwOnError` this client hides errors that are no answer of the API: it returns them with `error: {}`.
client.setConfig({ baseURL: process.env['SERVICE_BASE_URL'] ?? '', throwOnError: true });
attachServiceAuth(client.instance, createServiceAuthFromEnv(process.env));

const { data: orders } = await listOrders();
console.log(orders);

const { data: order } = await createOrder({ body: { item: 'tea' } });
console.log(order);
