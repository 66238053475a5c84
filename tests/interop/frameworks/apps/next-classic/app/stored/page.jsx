import { cookies } from 'next/headers';
import { orders } from '../../auth.js';

export const fetchCache = 'default-cache';

export default async function Page() {
  await cookies();
  // All records are stored here unless a request names another place.
  return <p>{await orders('stored', { cache: 'no-store' })}</p>;
}
