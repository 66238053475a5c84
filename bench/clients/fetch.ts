import { createAuthFetch } from '@service-auth/fetch';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import { type CreateContenders, createCoverage, namedWays } from './target.ts';

type Wrap = (send: typeof fetch, client: Client) => typeof fetch;

const body = { orders: [] };
/** One for all requests, that can be read again and again: making a `Response` takes longer than an adapter. */
const answer = {
  status: 200,
  ok: true,
  url: '',
  redirected: false,
  headers: new Headers({ 'content-type': 'application/json' }),
  json: async () => body,
  text: async () => JSON.stringify(body),
};
const mock = (async () => answer) as unknown as typeof fetch;

export const createContenders: CreateContenders = async ({ client, isMock, withPeers, token, auth, handwritten }) => {
  const send: typeof fetch = isMock ? mock : (input, init) => fetch(input, init);
  const { apiUrl } = client;
  // A connection is free for the next request once the body was read; some libraries have done so.
  const complete = (response: Response) => (isMock || response.bodyUsed ? response : response.text());
  const sentBy = (call: typeof fetch) => async () =>
    complete(await call(apiUrl, { headers: { accept: 'application/json' } }));
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const withHeader = async () => complete(await send(apiUrl, { headers }));
  const withFreshToken = async (init: RequestInit | undefined): Promise<RequestInit> => ({
    ...init,
    headers: { ...(init?.headers as object), authorization: `Bearer ${await handwritten.getToken()}` },
  });
  const wrapped: typeof fetch = async (input, init) =>
    send(input, {
      ...init,
      headers: { ...(init?.headers as object), authorization: `Bearer ${await handwritten.getToken()}` },
    });
  const covers = createCoverage(apiUrl);
  const careful: typeof fetch = async (input, init) => {
    if (!covers(String(input))) return send(input, init);
    const first = await send(input, await withFreshToken(init));
    if (first.status !== 401) return first;
    handwritten.forget();
    return send(input, await withFreshToken(init));
  };

  const ways: Record<string, () => Promise<unknown>> = namedWays('fetch', {
    withHeader: () => withHeader,
    handwritten: sentBy(wrapped),
    careful: sentBy(careful),
    ours: sentBy(createAuthFetch(auth, { fetch: send })),
  });
  if (withPeers) {
    const { fetchPeers } = await loadPeerModule<{ fetchPeers: Record<string, Wrap> }>('http');
    for (const [name, wrap] of Object.entries(fetchPeers)) ways[name] = sentBy(wrap(send, client));
  }
  return Object.entries(ways).map(([name, run]) => ({ name, run }));
};
