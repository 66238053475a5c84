import { createAuthFetch } from '@service-auth/fetch';
import { headers } from 'next/headers';
import { newAuth, orders } from '../../auth.js';

// Next.js stores the answer to each request here, whatever the request says.
export const fetchCache = 'force-cache';

/** Each request needs a token of its own. */
export async function GET() {
  await headers();
  return new Response(await orders('forced', {}, createAuthFetch(newAuth())));
}
