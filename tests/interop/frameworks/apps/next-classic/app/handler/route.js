import { headers } from 'next/headers';
import { orders } from '../../auth.js';

export const fetchCache = 'default-cache';

export async function GET() {
  await headers();
  return new Response(await orders('handler', { cache: 'no-store' }));
}
