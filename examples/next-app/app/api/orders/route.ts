import { serviceUnavailable } from '@service-auth/core/http';
import { connection } from 'next/server';
import { listOrders } from '../../../lib/orders';

export async function GET(): Promise<Response> {
  await connection(); // Without this line `next build` calls this function, and every visitor gets the answer of that time.
  try {
    return Response.json(await listOrders());
  } catch (error) {
    // 503 with `Retry-After`, if there is no token.
    const unavailable = serviceUnavailable(error);
    if (!unavailable) throw error;
    return Response.json({ message: 'Please try again later.' }, unavailable);
  }
}
