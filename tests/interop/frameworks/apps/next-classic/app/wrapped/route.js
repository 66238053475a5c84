import { createAuthFetch } from '@service-auth/fetch';
import { headers } from 'next/headers';
import { newAuth, orders } from '../../auth.js';

export const fetchCache = 'default-cache';

/** Another package puts a fetch of its own around that of Next.js. */
export async function GET() {
  await headers();
  const inner = globalThis.fetch;
  globalThis.fetch = (input, init) => inner(input, init);
  try {
    return new Response(await orders('wrapped', { cache: 'no-store' }, createAuthFetch(newAuth())));
  } finally {
    globalThis.fetch = inner;
  }
}
