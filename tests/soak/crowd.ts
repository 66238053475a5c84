import { createServiceAuth, type ServiceAuth } from '@service-auth/core';
import { heapInUse } from './heap.ts';
import { common, createIssuing, tokenLength } from './issuing.ts';

/** The memory of clients that wait in one process for their next call. */
export interface Crowd {
  /** Bytes of heap of one client with a token, without the text of the token. */
  readonly bytes: number;
  /** Timers, sockets and requests that keep the process running, above those from before. */
  readonly handles: number;
  /** Microseconds of processor time to create a client. */
  readonly createdWithin: number;
}

/** The most that a client may take in {@link Crowd.bytes}. */
export const maxBytes = 12_000;

/** Creates clients of different client ids with the default store, and gets a token for each. */
export async function gather(count: number): Promise<Crowd> {
  const { transport, issued } = createIssuing();
  const create = (id: string) =>
    createServiceAuth({ ...common, clientId: id, clientSecret: `the secret of ${id}`, transport });
  // The first clients take what all clients share, optimized code for example.
  for (let index = 0; index < count; index += 1) await create(`warm-${index}`).getToken();

  const handles = process.getActiveResourcesInfo().length;
  const before = await heapInUse();
  const startedAt = process.cpuUsage();
  const clients: ServiceAuth[] = Array.from({ length: count }, (_, index) => create(`client-${index}`));
  const { user, system } = process.cpuUsage(startedAt);
  for (let from = 0; from < count; from += 100) {
    await Promise.all(clients.slice(from, from + 100).map((client) => client.getToken()));
  }
  const bytes = ((await heapInUse()) - before) / count - tokenLength;
  if (issued() !== 2 * count) throw new Error(`${issued()} tokens were issued to ${2 * count} clients.`);
  return {
    bytes: Math.round(bytes),
    handles: process.getActiveResourcesInfo().length - handles,
    createdWithin: Math.round((user + system) / count),
  };
}
