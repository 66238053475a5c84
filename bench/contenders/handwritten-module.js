// A program without any library: the smallest possible import.
let cached;

export async function getToken({ tokenUrl, clientId, clientSecret, audience }) {
  if (!cached || Date.now() >= cached.expiresAt - 60_000) {
    const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, audience };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(tokenUrl, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`The token endpoint answered ${response.status}.`);
    const { access_token: value, expires_in: seconds } = await response.json();
    cached = { value, expiresAt: Date.now() + seconds * 1_000 };
  }
  return cached.value;
}
