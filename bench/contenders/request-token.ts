import type { Client } from '../harness/client.ts';

/** A token endpoint's answer, as far as a cache needs it. */
export interface Issued {
  readonly value: string;
  readonly issuedAt?: number;
  readonly expiresAt: number;
}

/** The token request of those who write it themselves, and of libraries that cache whatever a function of their user returns. */
export async function requestToken({ tokenUrl, clientId, clientSecret, audience }: Client): Promise<Issued> {
  const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, audience };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(tokenUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`The token endpoint answered ${response.status}.`);
  const answer = (await response.json()) as { access_token: string; expires_in: number };
  const issuedAt = Date.now();
  return { value: answer.access_token, issuedAt, expiresAt: issuedAt + answer.expires_in * 1_000 };
}
