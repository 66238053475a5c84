import { createAuthFetch } from '@service-auth/fetch';
import { type Client, loadPeerModule } from '../contenders/peers.ts';
import type { Contender } from '../harness/compare.ts';
import { type CreateContenders, handwrittenInterceptor, staticHeader, staticHeaderAgain } from './target.ts';

type Wrap = (send: typeof fetch, client: Client) => typeof fetch;

const answer = new Response('{"orders":[]}');
const mock: typeof fetch = async () => answer;

export const createContenders: CreateContenders = async ({ client, isMock, withPeers, token, auth, handwritten }) => {
  const send: typeof fetch = isMock ? mock : (input, init) => fetch(input, init);
  const { apiUrl } = client;
  // A connection is free for the next request once the body was read.
  const complete = isMock ? (response: Response) => response : (response: Response) => response.text();
  const contender = (name: string, call: typeof fetch): Contender => ({
    name,
    run: async () => complete(await call(apiUrl, { headers: { accept: 'application/json' } })),
  });
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const withHeader = async () => complete(await send(apiUrl, { headers }));
  const wrapped: typeof fetch = async (input, init) =>
    send(input, {
      ...init,
      headers: { ...(init?.headers as object), authorization: `Bearer ${await handwritten.getToken()}` },
    });

  const contenders = [
    { name: staticHeader, run: withHeader },
    { name: staticHeaderAgain, run: withHeader },
    contender(handwrittenInterceptor, wrapped),
    contender('@service-auth/fetch', createAuthFetch(auth, { fetch: send })),
  ];
  if (!withPeers) return contenders;
  const { fetchPeers } = await loadPeerModule<{ fetchPeers: Record<string, Wrap> }>('http');
  return [...contenders, ...Object.entries(fetchPeers).map(([name, wrap]) => contender(name, wrap(send, client)))];
};
