import { SERVICE_BASE_URL } from '$app/env/private';
import { authFetch } from '../lib/server/auth';
import type { Actions, PageServerLoad } from './$types';

const url = () => `${SERVICE_BASE_URL}/api/v1/orders`;

export const load: PageServerLoad = async () => {
  const response = await authFetch(url());
  return { orders: (await response.json()) as { id: number; item: string }[] };
};

export const actions: Actions = {
  async default({ request }) {
    const item = (await request.formData()).get('item');
    const headers = { 'content-type': 'application/json' };
    await authFetch(url(), { method: 'POST', headers, body: JSON.stringify({ item }) });
  },
};
