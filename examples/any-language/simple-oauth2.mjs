// JavaScript with simple-oauth2.
import { ClientCredentials } from 'simple-oauth2';

const { TOKEN_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', API_URL = '' } = process.env;
const { origin, pathname } = new URL(TOKEN_URL);
const client = new ClientCredentials({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: { tokenHost: origin, tokenPath: pathname },
});
const { token } = await client.getToken({});

const answer = await fetch(API_URL, { headers: { authorization: `Bearer ${token.access_token}` } });
if (!answer.ok) throw new Error(`the API answered ${answer.status}`);
console.log(await answer.text());
