import { headers } from 'next/headers';
import { auth } from '../../auth.js';

/** Begins to ask for a token and is answered before there is one. */
export async function GET() {
  await headers();
  auth.getToken().catch(() => {});
  return new Response('orders later');
}
