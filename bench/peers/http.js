// Peers that send the requests as well, or hook into a client that does.
import { OAuth2Client as BadgatewayClient, OAuth2Fetch } from '@badgateway/oauth2-client';
import { clientFactory, interceptorFactory, LockingTokenCache } from '@scienta/axios-oauth2';
import axios from 'axios';
import createAuthRefreshInterceptor from 'axios-auth-refresh';
import { clientCredentials } from 'axios-oauth-client';
import tokenInterceptor from 'axios-token-interceptor';
import { OAuth2Client as GoogleClient } from 'google-auth-library';
import oidcInterceptor from 'undici-oidc-interceptor';
import { requestToken } from '../contenders/request-token.ts';
import { sources } from './caches.js';

/** Attach themselves to an axios instance. */
export const axiosPeers = {
  'axios-auth-refresh': (instance, client) => {
    let token = '';
    const refresh = async () => {
      token = (await requestToken(client)).value;
    };
    createAuthRefreshInterceptor(instance, refresh);
    instance.interceptors.request.use(async (config) => {
      if (token === '') await refresh();
      config.headers.set('Authorization', `Bearer ${token}`);
      return config;
    });
  },
  'axios-token-interceptor': (instance, { tokenUrl, clientId, clientSecret }) => {
    const ask = clientCredentials(axios.create(), tokenUrl, clientId, clientSecret);
    const getToken = tokenInterceptor.tokenCache(() => ask(), {
      getMaxAge: (answer) => answer.expires_in * 1_000,
    });
    const headerFormatter = ({ access_token: token }) => `Bearer ${token}`;
    instance.interceptors.request.use(tokenInterceptor({ getToken, headerFormatter }));
  },
  '@scienta/axios-oauth2': (instance, { tokenUrl, clientId, clientSecret }) => {
    const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const client = clientFactory(axios.create(), { url: tokenUrl, ...credentials });
    instance.interceptors.request.use(interceptorFactory(client, new LockingTokenCache()));
  },
  'axios-jwt': (instance, client) => attachSource(instance, sources['axios-jwt'](client)),
  '@azure/msal-node': (instance, client) => attachSource(instance, sources['@azure/msal-node'](client)),
};

function attachSource(instance, getToken) {
  instance.interceptors.request.use(async (config) => {
    config.headers.set('Authorization', `Bearer ${await getToken()}`);
    return config;
  });
}

/** Functions like fetch. `send` is what they send by. */
export const fetchPeers = {
  '@badgateway/oauth2-client': (send, { tokenUrl, clientId, clientSecret }) => {
    const client = new BadgatewayClient({ server: tokenUrl, tokenEndpoint: tokenUrl, clientId, clientSecret });
    const session = new OAuth2Fetch({ client, getNewToken: () => client.clientCredentials(), scheduleRefresh: false });
    const middleware = session.mw();
    return (url, init) => middleware(new Request(url, init), send);
  },
  'google-auth-library': (send, client) => {
    const google = new GoogleClient({ transporterOptions: { fetchImplementation: send } });
    google.refreshHandler = async () => {
      const { value, expiresAt } = await requestToken(client);
      return { access_token: value, expiry_date: expiresAt };
    };
    return (url, init) => google.fetch(url, init);
  },
};

/** Interceptors of undici dispatchers. */
export const undiciPeers = {
  'undici-oidc-interceptor': ({ tokenUrl, apiUrl, clientId, clientSecret }) =>
    oidcInterceptor({ idpTokenUrl: tokenUrl, clientId, clientSecret, urls: [new URL(apiUrl).origin] }),
};
