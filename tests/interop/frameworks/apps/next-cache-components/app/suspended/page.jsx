import { Suspense } from 'react';
import { orders } from '../../auth.js';

async function Orders() {
  return <p>{await orders('suspended')}</p>;
}

export default function Page() {
  return (
    <Suspense fallback="…">
      <Orders />
    </Suspense>
  );
}
