import { headers } from 'next/headers';
import { orders } from '../../auth.js';

export async function GET() {
  await headers();
  return new Response(await orders('handler'));
}
