import { Suspense } from 'react';
import { auth } from '../../auth.js';

async function State() {
  const { remaining } = await auth.getUsage();
  return <p>{auth.peekToken() ? 'orders 200' : `orders ${remaining > 0 ? 200 : 503}`}</p>;
}

export default function Page() {
  return (
    <Suspense fallback="…">
      <State />
    </Suspense>
  );
}
