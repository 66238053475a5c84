// Peers that live through a day in a fleet, each with the best that its documentation offers. Each function returns one that calls the API once.
// They are loaded one by one, because a process of the fleet starts often.
import { requestToken } from '../contenders/request-token.ts';

const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } });

async function statusOf(answer) {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

const statusOfAxios = ({ status, response }) => response?.status ?? status;

export const programs = {
  async '@scienta/axios-oauth2'({ apiUrl, ...client }, url) {
    const [{ interceptorFactory }, { tokenCacheIn }, { default: axios }, { Redis }] = await Promise.all([
      import('@scienta/axios-oauth2'),
      import('./redlock.js'),
      import('axios'),
      import('ioredis'),
    ]);
    const { cache, ask } = tokenCacheIn(new Redis(url), client);
    const instance = axios.create();
    instance.interceptors.request.use(interceptorFactory(ask, cache));
    return () => instance.get(apiUrl).then(statusOfAxios, statusOfAxios);
  },
  // Its stored token is kept in Redis. Without it each process would request one.
  async '@badgateway/oauth2-client'({ tokenUrl, apiUrl, clientId, clientSecret }, url) {
    const [{ OAuth2Client, OAuth2Fetch }, { Redis }] = await Promise.all([
      import('@badgateway/oauth2-client'),
      import('ioredis'),
    ]);
    const redis = new Redis(url);
    const client = new OAuth2Client({ server: tokenUrl, tokenEndpoint: tokenUrl, clientId, clientSecret });
    const session = new OAuth2Fetch({
      client,
      getNewToken: () => client.clientCredentials(),
      storeToken: (token) => redis.set(clientId, JSON.stringify(token)),
      getStoredToken: async () => JSON.parse(await redis.get(clientId)),
    });
    return () => statusOf(session.fetch(apiUrl));
  },
  async auth0({ tokenUrl, apiUrl, clientId, clientSecret, audience }) {
    const { TokenProvider } = await import('auth0/management');
    // It speaks https only: its `fetch` option leads it to loopback.
    const provider = new TokenProvider({
      domain: 'auth.example.com',
      clientId,
      clientSecret,
      audience,
      fetch: (_url, init) => fetch(tokenUrl, init),
    });
    return async () => statusOf(fetch(apiUrl, bearer(await provider.getAccessToken())));
  },
  async 'axios-auth-refresh'({ apiUrl, ...client }) {
    const [{ createAuthRefresh }, { default: axios }] = await Promise.all([
      import('axios-auth-refresh'),
      import('axios'),
    ]);
    const instance = axios.create();
    let token;
    const refresh = async () => {
      token = (await requestToken(client)).value;
    };
    createAuthRefresh(instance, refresh);
    instance.interceptors.request.use(async (config) => {
      if (!token) await refresh();
      config.headers.set('Authorization', `Bearer ${token}`);
      return config;
    });
    return () => instance.get(apiUrl).then(statusOfAxios, statusOfAxios);
  },
};
