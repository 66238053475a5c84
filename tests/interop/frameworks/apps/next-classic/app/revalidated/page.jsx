import { orders } from '../../auth.js';

export const revalidate = 1;

export default async function Page() {
  return <p>{await orders('revalidated')}</p>;
}
