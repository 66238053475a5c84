import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ClientCredentials } from 'simple-oauth2';

/** Libraries that leave it to the application to keep the token: each call asks the token endpoint. */
export const sources = {
  'simple-oauth2': ({ tokenUrl, clientId, clientSecret, audience }) => {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: tokenUrl, tokenPath: tokenUrl },
      options: { authorizationMethod: 'body', bodyFormat: 'json' },
    });
    return async () => (await client.getToken({ audience })).token.access_token;
  },
  'openid-client': ({ tokenUrl, clientId, clientSecret }) => {
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
    const configuration = new openid.Configuration(server, clientId, clientSecret);
    openid.allowInsecureRequests(configuration);
    return async () => (await openid.clientCredentialsGrant(configuration)).access_token;
  },
  oauth4webapi: ({ tokenUrl, clientId, clientSecret }) => {
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
    const client = { client_id: clientId };
    const authentication = oauth.ClientSecretPost(clientSecret);
    const options = { [oauth.allowInsecureRequests]: true };
    return async () => {
      const parameters = new URLSearchParams();
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return (await oauth.processClientCredentialsResponse(server, client, response)).access_token;
    };
  },
};
