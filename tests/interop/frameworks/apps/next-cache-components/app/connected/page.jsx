import { connection } from 'next/server';
import { Suspense } from 'react';
import { orders } from '../../auth.js';

async function Orders() {
  await connection();
  return <p>{await orders('connected')}</p>;
}

export default function Page() {
  return (
    <Suspense fallback="…">
      <Orders />
    </Suspense>
  );
}
