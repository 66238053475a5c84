// graphql-request takes a `fetch`.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts graphql-request
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { GraphQLClient, gql } from 'graphql-request';
import type { Order } from './shop.ts';

const auth = createServiceAuthFromEnv(process.env);
const client = new GraphQLClient(`${process.env['SERVICE_BASE_URL']}/api/v1/graphql`, { fetch: createAuthFetch(auth) });

const { orders } = await client.request<{ orders: Order[] }>(gql`{ orders { id item } }`);
console.log(orders);

const mutation = gql`mutation ($item: String!) { order(item: $item) { id item } }`;
const { order } = await client.request<{ order: Order }>(mutation, { item: 'tea' });
console.log(order);
