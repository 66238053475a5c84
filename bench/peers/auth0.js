import { TokenProvider } from 'auth0/management';

/** Its cache of tokens. It speaks https only: its `fetch` option leads it to loopback. */
export function tokenProviderOf({ tokenUrl, clientId, clientSecret, audience }) {
  const options = { domain: 'auth.example.com', clientId, clientSecret, audience };
  return new TokenProvider({ ...options, fetch: (_url, init) => fetch(tokenUrl, init) });
}
