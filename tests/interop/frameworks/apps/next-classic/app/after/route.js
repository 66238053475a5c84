import { createAuthFetch } from '@service-auth/fetch';
import { headers } from 'next/headers';
import { newAuth, orders } from '../../auth.js';

export const fetchCache = 'default-cache';

/** Asks for a token when the request has been answered. With `?done` it waits for the result. */
export async function GET(request) {
  await headers();
  if (new URL(request.url).searchParams.has('done')) return new Response(await globalThis.afterwards);
  // Next.js 14 has no `after`. There the work begins at once.
  const { after = (work) => void work() } = await import('next/server');
  globalThis.afterwards = new Promise((resolve, reject) => {
    after(() => orders('after', {}, createAuthFetch(newAuth())).then(resolve, reject));
  });
  return new Response('orders 200');
}
