// A Worker that calls the API. All its copies, wherever they run, share one token and one budget in a Durable Object.
import { env, waitUntil } from 'cloudflare:workers';
import { durableObjectStore, ServiceAuthStore } from '@service-auth/cloudflare';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

// The platform finds the class among the exports of the main module.
export { ServiceAuthStore };

const { SERVICE_AUTH, ...variables } = env;

// At the level of the module: one client for all requests that this copy serves.
const auth = createServiceAuthFromEnv(variables, {
  store: durableObjectStore(SERVICE_AUTH),
  waitUntil,
  timeoutMs: 20_000,
});
const authFetch = createAuthFetch(auth);

export default {
  async fetch(): Promise<Response> {
    return authFetch(`${env.SERVICE_BASE_URL}/api/v1/orders`);
  },
};
