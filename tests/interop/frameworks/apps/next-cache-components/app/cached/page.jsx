import { orders } from '../../auth.js';

async function load() {
  'use cache';
  return orders('cached');
}

export default async function Page() {
  return <p>{await load()}</p>;
}
