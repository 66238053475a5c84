import { createAuthFetch } from '@service-auth/fetch';
import { loadPeerModule } from '../contenders/peers.ts';
import type { Client } from '../harness/client.ts';
import type { Contender } from '../harness/compare.ts';
import {
  type CreateContenders,
  carefulInterceptor,
  createCoverage,
  handwrittenInterceptor,
  staticHeader,
  staticHeaderAgain,
} from './target.ts';

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

  const covers = createCoverage(apiUrl);
  const withFreshToken = async (init: RequestInit | undefined): Promise<RequestInit> => ({
    ...init,
    headers: { ...(init?.headers as object), authorization: `Bearer ${await handwritten.getToken()}` },
  });
  const careful: typeof fetch = async (input, init) => {
    if (!covers(String(input))) return send(input, init);
    const first = await send(input, await withFreshToken(init));
    if (first.status !== 401) return first;
    handwritten.forget();
    return send(input, await withFreshToken(init));
  };

  const contenders = [
    { name: staticHeader, run: withHeader },
    { name: staticHeaderAgain, run: withHeader },
    contender(handwrittenInterceptor, wrapped),
    contender(carefulInterceptor, careful),
    contender('@service-auth/fetch', createAuthFetch(auth, { fetch: send })),
  ];
  if (!withPeers) return contenders;
  const { fetchPeers } = await loadPeerModule<{ fetchPeers: Record<string, Wrap> }>('http');
  return [...contenders, ...Object.entries(fetchPeers).map(([name, wrap]) => contender(name, wrap(send, client)))];
};
