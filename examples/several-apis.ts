// Several APIs with one client id: a source for each, one record, one limit.
//
//   npx --yes pnpm@12 example examples/several-apis.ts
//
// Runs against a service on loopback. For the real one, createServiceAuthFromEnv(process.env) reads SERVICE_AUTH_URL and the other variables.
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { startTestService } from '@service-auth/testing';

const audiences = ['https://orders.example/', 'https://billing.example/'] as const;
const client = { clientId: 'several-apis', clientSecret: 'a secret of no value', audiences };
const service = await startTestService({ clients: [client] });
service.api.always({ status: 200, body: '{}' });
const orders = `${service.baseUrl}/api/v1/orders`;
const billing = `${service.baseUrl}/api/v1/billing`;

const auth = createServiceAuth({ ...service.options, baseUrl: orders });
const fetchOrders = createAuthFetch(auth);
const fetchBilling = createAuthFetch(auth.for({ audience: 'https://billing.example/', baseUrl: billing }));
await Promise.all([fetchOrders(orders), fetchBilling(billing), fetchBilling(`${billing}/invoices`)]);

for (const { path, tokenId } of service.apiRequests) {
  const { audience } = service.issuances.find((token) => token.tokenId === tokenId) ?? {};
  console.log(`${path} got the token for ${audience}`);
}
const { used, usable } = await auth.getUsage();
console.log(`Tokens spent: ${used} of ${usable}`);

// It ends the sources, too.
await auth.close();
await service.close();
