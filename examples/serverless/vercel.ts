// A function of Vercel, with the record in Upstash: save it as api/orders.ts.
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { redisStore } from '@service-auth/redis';
import { Redis } from '@upstash/redis';

// The integration of Vercel sets UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.
const auth = createServiceAuthFromEnv(process.env, {
  store: redisStore(Redis.fromEnv()),
  timeoutMs: 5_000, // longer than your token endpoint takes
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

export async function GET(request: Request): Promise<Response> {
  // A second less than the time of the function: the platform kills a function that takes too long.
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(9_000)]);
  try {
    const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
    if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
    return new Response(response.body, { status: response.status });
  } catch (error) {
    const unavailable = serviceUnavailable(error);
    if (!unavailable && !signal.aborted) throw error;
    return new Response('Please try again later.', unavailable ?? { status: 503, headers: { 'retry-after': '1' } });
  }
}
