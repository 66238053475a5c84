// A function of Vercel, with the record in Upstash: save it as api/orders.ts.
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { Redis } from '@upstash/redis';

// The integration of Vercel sets UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.
const auth = createServiceAuthFromEnv(process.env, { store: redisStore(Redis.fromEnv()), timeoutMs: 5_000 });
const authFetch = createAuthFetch(auth);

export async function GET({ signal }: Request): Promise<Response> {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
  return new Response(response.body, { status: response.status });
}
