import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import OAuth2Server from '@node-oauth/oauth2-server';
import { clientSecretBasic, clientSecretPost } from '@service-auth/core/oauth2';
import { listen } from '@service-auth/test-tools/servers/listen';
import type { FormServer } from './form-server.ts';

const { Request, Response } = OAuth2Server;
const [clientId, clientSecret] = ['a client', 'p%c+t s:l/ash=&'];

/** @node-oauth/oauth2-server. It reads Basic without decoding forms in it. */
export async function startNodeOauthServer(): Promise<FormServer> {
  const issued = new Map<string, { clientId: string; scope: string }>();
  let tokenRequests = 0;
  const oauth = new OAuth2Server({
    allowExtendedTokenAttributes: true,
    model: {
      getClient: async (id: string, secret: string) =>
        id === clientId && secret === clientSecret ? { id, grants: ['client_credentials'] } : undefined,
      getUserFromClient: async () => ({}),
      validateScope: async (_user: unknown, _client: unknown, scope?: string[]) =>
        scope?.every((name) => ['read', 'write'].includes(name)) === false ? false : scope,
      async saveToken(token: OAuth2Server.Token, client: OAuth2Server.Client, user: OAuth2Server.User) {
        issued.set(token.accessToken, { clientId: client.id, scope: token.scope?.join(' ') ?? '' });
        return { ...token, client, user };
      },
    } as unknown as OAuth2Server.ClientCredentialsModel,
  });
  const server = createServer(async (request, response) => {
    tokenRequests += 1;
    const body = Object.fromEntries(new URLSearchParams(await text(request)));
    const answer = new Response();
    const { method = '', headers } = request;
    const asked = new Request({ method, headers: headers as Record<string, string>, query: {}, body });
    await oauth.token(asked, answer).catch((error: OAuth2Server.OAuthError) => {
      answer.status ??= error.code;
    });
    response
      .writeHead(answer.status ?? 500, { ...answer.headers, 'content-type': 'application/json' })
      .end(JSON.stringify(answer.body));
  });
  const { url, close } = await listen(server);
  const common = { tokenEndpoint: `${url}/token`, clientId, clientSecret };
  return {
    clients: {
      'client_secret_basic, not encoded': { ...common, clientAuthentication: clientSecretBasic({ encoding: 'none' }) },
      client_secret_post: { ...common, clientAuthentication: clientSecretPost() },
    },
    get tokenRequests() {
      return tokenRequests;
    },
    find: async (token) => issued.get(token),
    close,
  };
}
