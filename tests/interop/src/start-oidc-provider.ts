import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '@service-auth/test-tools/servers/listen';
// @ts-expect-error: it brings no types.
import Provider, { errors } from 'oidc-provider';
import type { Peer } from './peer.ts';

const audience = 'https://api.example.com/';
const lifetimeMs = 7_200_000;

/**
 * oidc-provider, a certified OpenID provider. It takes forms and calls the audience `resource` (RFC 8707), so JSON is translated in front of it;
 * `front: false` leaves that out.
 */
export async function startOidcProvider({ front = true }: { front?: boolean } = {}): Promise<Peer> {
  let handle: RequestListener = () => {};
  let tokenRequests = 0;
  const server = createServer(async (request: IncomingMessage & { body?: object }, response) => {
    if (request.method === 'POST') tokenRequests += 1;
    if (front && request.method === 'POST') {
      const { audience: resource, ...body } = (await json(request)) as Record<string, string>;
      request.body = { ...body, resource };
      request.headers['content-type'] = 'application/x-www-form-urlencoded';
    }
    handle(request, response);
  });
  const { url: authUrl, close } = await listen(server);
  const clientId = 'a client';
  const clientSecret = 'the-secret-of-a-client-of-oidc-provider';

  const provider = new Provider(authUrl, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    routes: { token: '/oauth/token' },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_: unknown, resource: string) {
          if (resource !== audience) throw new errors.InvalidTarget();
          return {
            scope: '',
            audience,
            accessTokenTTL: lifetimeMs / 1_000,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
  });
  handle = provider.callback();

  return {
    options: { authUrl, audience, clientId, clientSecret },
    jwksUri: `${authUrl}/jwks`,
    lifetimeMs,
    get tokenRequests() {
      return tokenRequests;
    },
    close,
  };
}
