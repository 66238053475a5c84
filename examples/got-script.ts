// A script that pages through an API with got.
//
//   npx --yes pnpm@12 example examples/got-script.ts
//
// Runs against a service on loopback. For the real one, createServiceAuthFromEnv(process.env) reads SERVICE_AUTH_URL and the other variables.
import { createServiceAuth } from '@service-auth/core';
import { serviceAuth } from '@service-auth/got';
import { startTestService } from '@service-auth/testing';
import got from 'got';

const service = await startTestService();
const auth = createServiceAuth(service.options);

// An instance for this API alone; `got` itself stays as it is.
const api = got.extend(serviceAuth(auth), { timeout: { request: 10_000 } });

let page = 1;
const pages = api.paginate<{ path: string; bearer: string }>(`${service.baseUrl}/api/v1/orders`, {
  searchParams: { page },
  responseType: 'json',
  pagination: {
    countLimit: 3,
    transform: ({ body }) => [body as { path: string; bearer: string }],
    paginate: () => ({ searchParams: { page: ++page } }),
  },
});
for await (const { path, bearer } of pages) {
  console.log(`GET ${path} with a ${bearer} token`);
  // A revocation half-way: the next page is answered 401, and asked for once more with another token.
  if (path.endsWith('page=1')) service.revoke('all');
}

// A token that cannot be had is an error of got, with ours as its cause.
service.tokenEndpoint.always({ status: 503 });
await auth.reset();
await api(`${service.baseUrl}/api/v1/orders`).catch((error) => {
  console.log(`${error.name}: ${error.code}, again in ${Math.ceil((error.cause.retryAt - Date.now()) / 1_000)} s`);
});

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await service.close();
