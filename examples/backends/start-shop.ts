import { startTestService, type TestService } from '@service-auth/testing';
import { buildSchema, graphql } from 'graphql';

/** The API of a shop: the test service, with orders as JSON and as GraphQL. */
export interface Shop extends AsyncDisposable {
  readonly service: TestService;
  /** The environment variables for `createServiceAuthFromEnv`. */
  readonly env: Readonly<Record<string, string>>;
  /** The tokens that had been issued when a POST to `/api/v1/revocation` revoked them all. */
  readonly issuedBeforeRevocation: number;
  /** True if the API accepts an `Authorization`. It counts as a request to the API. */
  accepts(authorization: string | undefined): Promise<boolean>;
}

const schema = buildSchema(`
  type Order { id: Int!, item: String! }
  type Query { orders: [Order!]! }
  type Mutation { order(item: String!): Order! }
`);
const orders = [{ id: 1, item: 'coffee' }];
const resolvers = { orders, order: ({ item }: { item: string }) => ({ id: 2, item }) };
const json = { 'content-type': 'application/json' };

/** Starts a shop. It revokes all tokens when the request to the API arrives that has the number `revokeAt`: 1 is the first one. */
export async function startShop(revokeAt = 0): Promise<Shop> {
  const service = await startTestService();
  let requests = 0;
  let issuedBeforeRevocation = 0;
  service.api.always(async ({ bearer, method, path, body }) => {
    if (path === '/api/v1/revocation') {
      issuedBeforeRevocation = service.counts.issued;
      service.revoke('all');
      return { status: 204, body: '' };
    }
    if (bearer !== 'valid') return undefined;
    requests += 1;
    if (requests === revokeAt) {
      service.revoke('all');
      return { status: 401 };
    }
    if (path === '/api/v1/graphql') {
      const { query: source, variables: variableValues } = JSON.parse(body.text);
      const result = await graphql({ schema, source, variableValues, rootValue: resolvers });
      return { headers: json, body: JSON.stringify(result) };
    }
    if (path !== '/api/v1/orders') return undefined;
    if (method !== 'POST') return { headers: json, body: JSON.stringify(orders) };
    return { status: 201, headers: json, body: JSON.stringify(resolvers.order(JSON.parse(body.text))) };
  });
  return {
    service,
    env: service.env,
    get issuedBeforeRevocation() {
      return issuedBeforeRevocation;
    },
    async accepts(authorization) {
      const response = await fetch(`${service.baseUrl}/api/v1/accepts`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      await response.text();
      return response.ok;
    },
    [Symbol.asyncDispose]: () => service.close(),
  };
}
