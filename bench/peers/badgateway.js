import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';

/** Its session, which keeps a token. `options`: where else the token is kept. */
export function sessionOf({ tokenUrl, clientId, clientSecret }, options = { scheduleRefresh: false }) {
  const client = new OAuth2Client({ server: tokenUrl, tokenEndpoint: tokenUrl, clientId, clientSecret });
  return new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials(), ...options });
}
