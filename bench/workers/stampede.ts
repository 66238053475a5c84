import { SingleFlightCache } from '../contenders/handwritten.ts';
import { createOurs } from '../contenders/ours.ts';
import { type CreateSource, loadSources } from '../contenders/peers.ts';
import { requestToken } from '../contenders/request-token.ts';
import type { Client } from '../harness/client.ts';
import { type Spent, spentOn } from '../harness/spent.ts';

export const onePromise = 'one shared promise';
export const singleFlight = 'handwritten cache, single flight';
export const ours = '@service-auth/core';
/** Peers that leave it to the application to keep the token. */
export const withoutCache = ', no cache';

export interface StampedeInput {
  readonly name: string;
  readonly client: Client;
  readonly callers: number;
}

export interface Stampede extends Spent {
  /** Callers who got an error. */
  readonly failed: number;
}

/** The cost until each of many simultaneous callers without a token has one. */
export default async function stampede({ name, client, callers }: StampedeInput): Promise<Stampede> {
  const getToken = await createSource(name, client);
  let failed = 0;
  const call = () => getToken().catch(() => (failed += 1));
  const spent = await spentOn(() => Promise.all(Array.from({ length: callers }, call)));
  return { ...spent, failed };
}

async function createSource(name: string, client: Client): Promise<() => Promise<unknown>> {
  const ask = () => requestToken(client);
  if (name === onePromise) {
    let promise: Promise<unknown> | undefined;
    return () => (promise ??= ask());
  }
  if (name === singleFlight) {
    const cache = new SingleFlightCache(ask);
    return () => cache.getToken();
  }
  if (name === ours) {
    const auth = createOurs(client);
    return () => auth.getToken();
  }
  const sources = name.endsWith(withoutCache) ? await loadSources('requests') : await loadSources('caches');
  return (sources[name.replace(withoutCache, '')] as CreateSource)(client);
}
