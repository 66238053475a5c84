import { createAuthFetch } from '@service-auth/fetch';
import { newAuth, orders } from '../../auth.js';

export const dynamic = 'force-static';
export const revalidate = 1;

/** Prerendered, and rendered again by a request that comes a second later. */
export async function GET() {
  return new Response(await orders('revalidating', {}, createAuthFetch(newAuth())));
}
