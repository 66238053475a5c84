import { cookies } from 'next/headers';
import { orders } from '../../auth.js';

export default async function Page() {
  await cookies();
  return <p>{await orders('dynamic')}</p>;
}
