// A function of Netlify, with the record in PostgreSQL: save it as netlify/functions/orders.ts. Run createTable(pool) once, at deployment.
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { createAuthFetch } from '@service-auth/fetch';
import { postgresStore } from '@service-auth/postgres';
import { Pool } from 'pg';

// One connection for each instance, through the pooler of the database.
const pool = new Pool({
  connectionString: process.env['NETLIFY_DATABASE_URL'],
  max: 1,
  query_timeout: 2_000,
  connectionTimeoutMillis: 2_000,
});
pool.on('error', (error) => console.error(error.message)); // The event store_failed has no message.

const auth = createServiceAuthFromEnv(process.env, {
  store: postgresStore(pool),
  timeoutMs: 5_000, // longer than your token endpoint takes
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

export default async function orders(): Promise<Response> {
  // A second less than the time of the function: the platform kills a function that takes too long.
  const signal = AbortSignal.timeout(9_000);
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
