import { orders } from '../../auth.js';

/** The caching of an API request is what the caller chose. */
export async function GET(request) {
  const { searchParams } = new URL(request.url);
  const cache = searchParams.get('cache');
  return new Response(await orders(`choice/${cache}`, { cache }));
}
