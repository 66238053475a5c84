// The fetch that you have, and ky on top of it.
//
//   npx --yes pnpm@12 example examples/fetch-and-ky.ts
//
// Runs against a service on loopback. For the real one, createServiceAuthFromEnv(process.env) reads SERVICE_AUTH_URL and the other variables.
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { startTestService } from '@service-auth/testing';
import ky from 'ky';

const service = await startTestService();
const auth = createServiceAuth(service.options);
const orders = `${service.baseUrl}/api/v1/orders`;

const authFetch = createAuthFetch(auth);
const response = await authFetch(orders, { signal: AbortSignal.timeout(10_000) });
console.log(`fetch was answered ${response.status}`);

// ky makes a Request of everything, and its body can be read once: in memory, it can be sent again after a 401.
const api = ky.create({ fetch: createAuthFetch(auth, { bufferRequests: true }) });
service.revoke('all');
const { body } = await api.post<{ body: { text: string } }>(orders, { json: { item: 'tea' } }).json();
console.log(`ky sent ${body.text}, and ${service.counts.apiUnauthorized} request was answered 401`);

// Elsewhere the same function is the fetch it was: without a token.
const elsewhere = await startTestService();
console.log(
  `Another host was answered ${(await authFetch(`${elsewhere.baseUrl}/api/v1/`)).status}, because it got no token`,
);

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await Promise.all([service.close(), elsewhere.close()]);
