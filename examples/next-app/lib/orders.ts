import { tokenRejected } from '@service-auth/core/http';
import { authFetch } from './auth';

export interface Order {
  id: number;
  item: string;
}

const url = () => `${process.env.SERVICE_BASE_URL}/api/v1/orders`;

export async function listOrders(): Promise<Order[]> {
  const response = await authFetch(url());
  if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  if (!response.ok) throw new Error(`The API answered ${response.status}`);
  return response.json();
}

export async function createOrder(item: string): Promise<Order> {
  const headers = { 'content-type': 'application/json' };
  const response = await authFetch(url(), { method: 'POST', headers, body: JSON.stringify({ item }) });
  if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
  if (!response.ok) throw new Error(`The API answered ${response.status}`);
  return response.json();
}
