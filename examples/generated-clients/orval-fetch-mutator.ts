// The mutator of orval with `client: 'fetch'`: every generated function calls it.
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));

export async function send<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}${path}`, init);
  if (!response.ok) throw new Error(`${init.method} ${path} was answered ${response.status}`);
  const data = response.status === 204 ? undefined : await response.json();
  return { data, status: response.status, headers: response.headers } as Answer;
}
