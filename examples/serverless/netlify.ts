// A function of Netlify, with the record in PostgreSQL: save it as netlify/functions/orders.ts. Run createTable(pool) once, at deployment.
import { createServiceAuthFromEnv } from '@service-auth/core';
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
pool.on('error', () => {}); // The event store_failed reports it.

const auth = createServiceAuthFromEnv(process.env, { store: postgresStore(pool), timeoutMs: 5_000 });
const authFetch = createAuthFetch(auth);

export default async function orders(): Promise<Response> {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`);
  return new Response(response.body, { status: response.status });
}
