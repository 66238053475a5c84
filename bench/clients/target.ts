import type { ServiceAuth } from '@service-auth/core';
import { SingleFlightCache } from '../contenders/handwritten.ts';
import { createOurs, instantTransport } from '../contenders/ours.ts';
import type { Client } from '../harness/client.ts';
import type { Contender } from '../harness/compare.ts';

/** The address of the requests, and the clients that provide their token. */
export interface Target {
  readonly client: Client;
  /** Sends nothing: the mock of the HTTP client answers at once. */
  readonly isMock: boolean;
  readonly withPeers: boolean;
  readonly token: string;
  readonly auth: ServiceAuth;
  readonly handwritten: SingleFlightCache;
}

/** Sends the same request in all the ways that are compared. The first is the base, the third what people write themselves. */
export type CreateContenders = (target: Target) => Promise<Contender[]>;

export const staticHeader = 'static header';
export const handwrittenInterceptor = 'handwritten interceptor';
/** It also checks the address, sends once more after a 401, and hides the token from what is printed: as much as ours does. */
export const carefulInterceptor = 'handwritten, as careful';

/** The ways to send with a client of ours, by their names. */
export function namedWays<Way>(
  name: string,
  { withHeader, handwritten, careful, ours }: { withHeader(): Way; handwritten: Way; careful: Way; ours: Way },
): Record<string, Way> {
  return {
    [staticHeader]: withHeader(),
    [`${staticHeader}, again`]: withHeader(),
    [handwrittenInterceptor]: handwritten,
    [carefulInterceptor]: careful,
    [`@service-auth/${name}`]: ours,
  };
}

/** Whether an address is below the base URL: the cheapest check that is right for addresses as programs write them. */
export function createCoverage(apiUrl: string): (url: string) => boolean {
  const { origin } = new URL(apiUrl);
  const below = `${origin}/`;
  return (url) => url === origin || url.startsWith(below);
}

export async function createTarget(client: Client, isMock: boolean, withPeers: boolean): Promise<Target> {
  const token = `header.${'x'.repeat(740)}.signature`;
  const auth = createOurs(client, { baseUrl: new URL(client.apiUrl).origin, transport: instantTransport(token) });
  const handwritten = new SingleFlightCache(async () => ({ value: token, expiresAt: Date.now() + 86_400_000 }));
  await Promise.all([auth.getToken(), handwritten.getToken()]);
  return { client, isMock, withPeers, token, auth, handwritten };
}
