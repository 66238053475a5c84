// Peers that send the requests as well, or hook into a client that does.
import { interceptorFactory, LockingTokenCache } from '@scienta/axios-oauth2';
import tokenInterceptor from 'axios-token-interceptor';
import oidcInterceptor from 'undici-oidc-interceptor';
import { attachAuthRefresh } from './auth-refresh.js';
import { sessionOf } from './badgateway.js';
import { googleClientOf, sources, tokenCacheOf } from './caches.js';
import { clientOf } from './redlock.js';

/** Attach themselves to an axios instance. */
export const axiosPeers = {
  'axios-auth-refresh': attachAuthRefresh,
  'axios-token-interceptor': (instance, client) => {
    const headerFormatter = ({ access_token: token }) => `Bearer ${token}`;
    instance.interceptors.request.use(tokenInterceptor({ getToken: tokenCacheOf(client), headerFormatter }));
  },
  '@scienta/axios-oauth2': (instance, client) => {
    instance.interceptors.request.use(interceptorFactory(clientOf(client), new LockingTokenCache()));
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
  '@badgateway/oauth2-client': (send, client) => {
    const middleware = sessionOf(client).mw();
    return (url, init) => middleware(new Request(url, init), send);
  },
  'google-auth-library': (send, client) => {
    const google = googleClientOf(client, { transporterOptions: { fetchImplementation: send } });
    return (url, init) => google.fetch(url, init);
  },
};

/** Interceptors of undici dispatchers. */
export const undiciPeers = {
  'undici-oidc-interceptor': ({ tokenUrl, apiUrl, clientId, clientSecret }) =>
    oidcInterceptor({ idpTokenUrl: tokenUrl, clientId, clientSecret, urls: [new URL(apiUrl).origin] }),
};
