// A Worker that calls the API. All its copies, wherever they run, share one token and one budget in a Durable Object.
import { env, waitUntil } from 'cloudflare:workers';
import { durableObjectStore, ServiceAuthStore } from '@service-auth/cloudflare';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { onCall } from './on-call.ts';

// The platform finds the class among the exports of the main module.
export { ServiceAuthStore };

// The bindings are taken out: the variables are texts.
const { SERVICE_AUTH, ...variables } = env;

// At the level of the module: one client for all requests that this copy serves.
const auth = createServiceAuthFromEnv(variables, {
  store: durableObjectStore(SERVICE_AUTH),
  waitUntil, // Renews the token after the request was answered.
  timeoutMs: 20_000,
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname.startsWith('/service-auth/')) return onCall(request);
    try {
      const orders = await authFetch(`${env.SERVICE_BASE_URL}/api/v1/orders`);
      if (orders.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
      return orders;
    } catch (error) {
      const unavailable = serviceUnavailable(error);
      if (!unavailable) throw error;
      return new Response('Please try again later.', unavailable);
    }
  },
};
