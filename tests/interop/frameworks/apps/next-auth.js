import { createServiceAuth, memoryStore } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

export const api = `${process.env.SERVICE_BASE_URL}/api/v1/`;

export const newAuth = () =>
  createServiceAuth({
    authUrl: process.env.SERVICE_AUTH_URL,
    baseUrl: process.env.SERVICE_BASE_URL,
    audience: process.env.SERVICE_AUTH_AUDIENCE,
    clientId: process.env.SERVICE_AUTH_CLIENT_ID,
    clientSecret: process.env.SERVICE_AUTH_CLIENT_SECRET,
    timeoutMs: 5_000,
    store: memoryStore(),
    onEvent: (event) => console.log(`EVENT ${JSON.stringify(event)}`),
  });

// Next.js loads a module once for each kind of route.
globalThis.serviceAuth ??= newAuth();
export const auth = globalThis.serviceAuth;
export const authFetch = createAuthFetch(auth);

/** The part of an API answer that a page shows. */
export async function orders(path, init, fetch = authFetch) {
  const response = await fetch(`${api}${path}`, init);
  await response.text();
  return `orders ${response.status}`;
}
