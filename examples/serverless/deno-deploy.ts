// Deno Deploy, with the record in Upstash: `deno serve deno-deploy.ts` runs it elsewhere.
import process from 'node:process';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { Redis } from '@upstash/redis';

const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(Redis.fromEnv()),
  timeoutMs: 5_000, // longer than your token endpoint takes
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

export default {
  async fetch({ signal }: Request): Promise<Response> {
    try {
      const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
      if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
      return new Response(response.body, { status: response.status });
    } catch (error) {
      const unavailable = serviceUnavailable(error);
      if (!unavailable) throw error;
      return new Response('Please try again later.', unavailable);
    }
  },
};
