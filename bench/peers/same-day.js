// Peers that live through a day in a fleet, each with the best that its documentation offers. Each function returns one that calls the API once.
// They are loaded one by one, because a process of the fleet starts often.
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
  async '@badgateway/oauth2-client'({ apiUrl, ...client }, url) {
    const [{ sessionOf }, { Redis }] = await Promise.all([import('./badgateway.js'), import('ioredis')]);
    const redis = new Redis(url);
    const session = sessionOf(client, {
      storeToken: (token) => redis.set(client.clientId, JSON.stringify(token)),
      getStoredToken: async () => JSON.parse(await redis.get(client.clientId)),
    });
    return () => statusOf(session.fetch(apiUrl));
  },
  async auth0({ apiUrl, ...client }) {
    const { tokenProviderOf } = await import('./auth0.js');
    const provider = tokenProviderOf(client);
    return async () => {
      const headers = { authorization: `Bearer ${await provider.getAccessToken()}` };
      return statusOf(fetch(apiUrl, { headers }));
    };
  },
  async 'axios-auth-refresh'({ apiUrl, ...client }) {
    const [{ attachAuthRefresh }, { default: axios }] = await Promise.all([
      import('./auth-refresh.js'),
      import('axios'),
    ]);
    const instance = axios.create();
    attachAuthRefresh(instance, client);
    return () => instance.get(apiUrl).then(statusOfAxios, statusOfAxios);
  },
};
