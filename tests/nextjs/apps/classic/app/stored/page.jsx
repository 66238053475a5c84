import { cookies } from 'next/headers';
import { orders } from '../../auth.js';

export const fetchCache = 'default-cache';

export default async function Page() {
  await cookies();
  // Where everything is stored unless a request says otherwise.
  return <p>{await orders('stored', { cache: 'no-store' })}</p>;
}
