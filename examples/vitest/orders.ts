// A module of an application.
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));

export async function readOrder(id: number): Promise<{ path: string }> {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders/${id}`);
  if (!response.ok) throw new Error(`The API answered ${response.status}`);
  return (await response.json()) as { path: string };
}
