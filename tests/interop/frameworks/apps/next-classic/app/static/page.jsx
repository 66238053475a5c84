import { orders } from '../../auth.js';

export default async function Page() {
  return <p>{await orders('static')}</p>;
}
