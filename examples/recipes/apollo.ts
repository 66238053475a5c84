// Apollo Client takes a `fetch` in its HttpLink.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts apollo
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import type { Order } from './shop.ts';

const auth = createServiceAuthFromEnv(process.env);
const client = new ApolloClient({
  link: new HttpLink({ uri: `${process.env['SERVICE_BASE_URL']}/api/v1/graphql`, fetch: createAuthFetch(auth) }),
  cache: new InMemoryCache(),
});

const { data: read } = await client.query<{ orders: Order[] }>({ query: gql`{ orders { id item } }` });
console.log(read?.orders.map(({ id, item }) => ({ id, item })));

const mutation = gql`mutation ($item: String!) { order(item: $item) { id item } }`;
const { data: written } = await client.mutate<{ order: Order }>({ mutation, variables: { item: 'tea' } });
console.log({ id: written?.order.id, item: written?.order.item });
