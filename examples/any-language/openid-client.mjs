// JavaScript with openid-client 6. It refuses plain http, even on 127.0.0.1, without allowInsecureRequests.
import * as client from 'openid-client';

const { TOKEN_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', API_URL = '' } = process.env;
const config = await client.discovery(new URL('/', TOKEN_URL), CLIENT_ID, CLIENT_SECRET, undefined, {
  algorithm: 'oauth2',
  execute: [client.allowInsecureRequests],
});
const { access_token } = await client.clientCredentialsGrant(config);

const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${access_token}` } });
if (!answer.ok) throw new Error(`the API answered ${answer.status}`);
console.log(await answer.text());
