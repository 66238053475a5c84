import { createOurs, instantTransport } from '../contenders/ours.ts';
import { bytesPerCall } from '../harness/allocation.ts';
import type { Client } from '../harness/client.ts';

/** Bytes that calls of a client with a fresh token leave on the heap, by call. */
export default async function allocation(client: Client): Promise<Record<string, number>> {
  const token = 'x'.repeat(754);
  const origin = new URL(client.apiUrl).origin;
  const auth = createOurs(client, { baseUrl: origin, transport: instantTransport(token) });
  const settled = auth.getToken();
  await settled;
  const signal = new AbortController().signal;
  // A function that returns nothing calls it, because `await` of a promise would leave memory behind.
  const calls: Record<string, () => void> = {
    'getToken()': () => void auth.getToken(),
    'getToken({ signal })': () => void auth.getToken({ signal }),
    'peekToken()': () => void auth.peekToken(),
    'covers(url)': () => void auth.covers(client.apiUrl),
    'a new promise': () => void Promise.resolve(token),
  };
  const bytes: Record<string, number> = {};
  for (const [name, call] of Object.entries(calls)) bytes[name] = await bytesPerCall(call, 50_000);
  return bytes;
}
