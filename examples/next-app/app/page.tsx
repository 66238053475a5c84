import { connection } from 'next/server';
import { Suspense } from 'react';
import { listOrders } from '../lib/orders';
import { order } from './actions';

async function Orders() {
  await connection(); // The orders are read for each visitor, and not by `next build`.
  const orders = await listOrders();
  return (
    <ul>
      {orders.map(({ id, item }) => (
        <li key={id}>{item}</li>
      ))}
    </ul>
  );
}

export default function Page() {
  return (
    <Suspense fallback="…">
      <Orders />
      <form action={order}>
        <input name="item" />
        <button type="submit">Order</button>
      </form>
    </Suspense>
  );
}
