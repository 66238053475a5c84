import { headers } from 'next/headers';

export const fetchCache = 'default-cache';

/** The fault itself: a token request by the fetch of Next.js. */
export async function GET() {
  await headers();
  const response = await fetch(process.env.TRAP_URL, { method: 'POST', body: '{}' });
  return new Response(await response.text());
}
