// The record, for people on call. `/service-auth/usage` is a summary, and `/service-auth/record` the text for `service-auth record import`.
import { env } from 'cloudflare:workers';
import { durableObjectStore } from '@service-auth/cloudflare';
import { createUsageReader } from '@service-auth/core';

const store = durableObjectStore(env.SERVICE_AUTH);
const reader = createUsageReader({ store, authUrl: env.SERVICE_AUTH_URL, clientId: env.SERVICE_AUTH_CLIENT_ID });

/** Answers 404 to everybody who does not send the key. */
export async function onCall(request: Request): Promise<Response> {
  if (!(await isAllowed(request.headers.get('authorization')))) return new Response(null, { status: 404 });
  if (new URL(request.url).pathname === '/service-auth/usage') return Response.json(await reader.getUsage());
  const { record } = await store.load(await reader.recordKey);
  return record === undefined ? new Response('There is no record yet.', { status: 404 }) : new Response(record);
}

/** Compares digests, so that the time tells nothing about the key. */
async function isAllowed(authorization: string | null): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [given, right] = await Promise.all([digest(`${authorization}`), digest(`Bearer ${env.ON_CALL_KEY}`)]);
  return Boolean(env.ON_CALL_KEY) && crypto.subtle.timingSafeEqual(given, right);
}
