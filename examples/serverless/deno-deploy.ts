// Deno Deploy, with the record in Upstash: `deno serve deno-deploy.ts` runs it elsewhere.
import process from 'node:process';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { Redis } from '@upstash/redis';

const auth = createServiceAuthFromEnv(process.env, { store: redisStore(Redis.fromEnv()), timeoutMs: 5_000 });
const authFetch = createAuthFetch(auth);

export default {
  async fetch({ signal }: Request): Promise<Response> {
    const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
    return new Response(response.body, { status: response.status });
  },
};
