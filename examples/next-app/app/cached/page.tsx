import { cacheLife } from 'next/cache';
import { connection } from 'next/server';
import { Suspense } from 'react';
import { listOrders } from '../../lib/orders';

/** Next.js keeps the orders for minutes. It keeps no token: that stays in the client. */
async function cachedOrders() {
  'use cache';
  cacheLife('minutes');
  return listOrders();
}

async function Orders() {
  await connection(); // Without this line `next build` reads the orders, and needs the environment variables.
  const orders = await cachedOrders();
  return <p>{orders.map(({ item }) => item).join(', ')}</p>;
}

export default function Page() {
  return (
    <Suspense fallback="…">
      <Orders />
    </Suspense>
  );
}
