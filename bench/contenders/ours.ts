import { createServiceAuth, type ServiceAuth, type ServiceAuthOptions, type Transport } from '@service-auth/core';
import type { Client } from '../harness/client.ts';

/** The package as it is built and published, for the same client that the peers have. */
export function createOurs(
  { tokenUrl, clientId, clientSecret, audience }: Client,
  more?: Partial<ServiceAuthOptions>,
): ServiceAuth {
  const authUrl = tokenUrl.replace(/\/oauth\/token$/, '');
  return createServiceAuth({ authUrl, clientId, clientSecret, audience, ...more });
}

/** A token endpoint that answers at once, without a network. */
export function instantTransport(token: string): Transport {
  const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 86_400 });
  return async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body });
}
