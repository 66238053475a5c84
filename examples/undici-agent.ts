// An agent of undici that follows redirects, retries, and sends the token.
//
//   npx --yes pnpm@12 example examples/undici-agent.ts
//
// Runs against a service on loopback. For the real one, createServiceAuthFromEnv(process.env) reads SERVICE_AUTH_URL and the other variables.
import { createServiceAuth } from '@service-auth/core';
import { startTestService } from '@service-auth/testing';
import { serviceAuthInterceptor } from '@service-auth/undici';
import { Agent, interceptors, request } from 'undici';

const service = await startTestService();
const auth = createServiceAuth(service.options);

// Our interceptor is listed first, so that it checks every redirect and every retry.
const dispatcher = new Agent().compose(
  serviceAuthInterceptor(auth),
  interceptors.retry({ maxRetries: 2, minTimeout: 10 }),
  interceptors.redirect({ maxRedirections: 5 }),
);

async function get(path: string): Promise<void> {
  const { statusCode, body } = await request(`${service.baseUrl}${path}`, { dispatcher });
  await body.dump();
  console.log(`GET ${path} was answered ${statusCode} after ${service.counts.apiRequests} requests`);
}

await get('/api/v1/orders');

service.api.next({ status: 302, headers: { location: '/api/v1/orders/1' } }, { status: 503 });
await get('/api/v1/orders/latest');

service.revoke('all');
await get('/api/v1/orders');

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await dispatcher.close();
await service.close();
