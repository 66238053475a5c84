import { type MutableResponse, OAuth2Server } from 'oauth2-mock-server';
import type { Peer } from './peer.ts';

const audience = 'https://api.example.com/';

/** oauth2-mock-server: what it answers can be changed on its way out. */
export interface MockServer extends Peer {
  /** Changes the next answer. */
  next(change: (response: MutableResponse) => void): void;
}

export async function startOauth2MockServer(): Promise<MockServer> {
  const server = new OAuth2Server(undefined, undefined, { endpoints: { token: '/oauth/token' } });
  const changes: ((response: MutableResponse) => void)[] = [];
  let tokenRequests = 0;
  await server.issuer.keys.generate('RS256');
  server.service.on('beforeTokenSigning', (token: { payload: { aud?: string; jti?: string } }) => {
    Object.assign(token.payload, { aud: audience, jti: `${tokenRequests}` });
  });
  server.service.on('beforeResponse', (response: MutableResponse) => {
    tokenRequests += 1;
    changes.shift()?.(response);
  });
  await server.start(0, '127.0.0.1');
  const authUrl = `http://127.0.0.1:${server.address().port}`;
  return {
    options: { authUrl, audience, clientId: 'a client', clientSecret: 'a secret that is never read' },
    jwksUri: `${authUrl}/jwks`,
    lifetimeMs: 3_600_000,
    get tokenRequests() {
      return tokenRequests;
    },
    next: (change) => void changes.push(change),
    close: () => server.stop(),
  };
}
