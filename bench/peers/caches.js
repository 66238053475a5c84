// Every peer as its own documentation says it should be used by a program without a user: how it gets a token, and keeps it.
// `create` returns a function that returns a token; it is called once per client.
import { bearerTokenAuthenticationPolicy, createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { ClientSecretCredential, getBearerTokenProvider } from '@azure/identity';
import { ConfidentialClientApplication } from '@azure/msal-node';
import { LockingTokenCache } from '@scienta/axios-oauth2';
import { memoize } from '@smithy/property-provider';
import axios from 'axios';
import { authTokenInterceptor } from 'axios-jwt';
import { clientCredentials } from 'axios-oauth-client';
import interceptor from 'axios-token-interceptor';
import { OAuth2Client as GoogleClient } from 'google-auth-library';
import { LRUCache } from 'lru-cache';
import { ClientCredentials } from 'simple-oauth2';
import oidcInterceptor from 'undici-oidc-interceptor';
import { requestToken } from '../contenders/request-token.ts';
import { tokenProviderOf } from './auth0.js';
import { aadNetwork, authority, azureHttp, tenant } from './azure-network.js';
import { sessionOf } from './badgateway.js';
import { clientOf } from './redlock.js';

const marginMs = 60_000;

/** The cache of axios-token-interceptor. */
export function tokenCacheOf({ tokenUrl, clientId, clientSecret }) {
  const ask = clientCredentials(axios.create(), tokenUrl, clientId, clientSecret);
  return interceptor.tokenCache(() => ask(), { getMaxAge: (answer) => answer.expires_in * 1_000 });
}

/** A client of google-auth-library whose tokens come from our endpoint. */
export function googleClientOf(client, options) {
  const google = new GoogleClient(options);
  google.refreshHandler = async () => {
    const { value, expiresAt } = await requestToken(client);
    return { access_token: value, expiry_date: expiresAt };
  };
  return google;
}

/** Libraries with a cache: what they do on every request of an application. */
export const sources = {
  'lru-cache': (client) => {
    const cache = new LRUCache({
      max: 100,
      fetchMethod: async (_key, _stale, { options }) => {
        const { value, expiresAt } = await requestToken(client);
        options.ttl = expiresAt - Date.now() - marginMs;
        return value;
      },
    });
    return () => cache.fetch('token');
  },
  '@smithy/property-provider': (client) => {
    const isExpired = ({ expiresAt }) => expiresAt - Date.now() < marginMs;
    const provide = memoize(
      () => requestToken(client),
      isExpired,
      () => true,
    );
    return async () => (await provide()).value;
  },
  'axios-token-interceptor': (client) => {
    const cache = tokenCacheOf(client);
    return async () => (await cache()).access_token;
  },
  'google-auth-library': (client) => {
    const google = googleClientOf(client);
    return async () => (await google.getAccessToken()).token;
  },
  'simple-oauth2': ({ tokenUrl, clientId, clientSecret, audience }) => {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: tokenUrl, tokenPath: tokenUrl },
      options: { authorizationMethod: 'body', bodyFormat: 'json' },
    });
    let flight;
    let cached;
    return async () => {
      if (cached && !cached.expired(marginMs / 1_000)) return cached.token.access_token;
      flight ??= client.getToken({ audience }).finally(() => {
        flight = undefined;
      });
      cached = await flight;
      return cached.token.access_token;
    };
  },
  '@badgateway/oauth2-client': (client) => {
    const session = sessionOf(client);
    return () => session.getAccessToken();
  },
  '@azure/core-rest-pipeline': (client) => {
    const credential = {
      async getToken() {
        const { value, expiresAt } = await requestToken(client);
        return { token: value, expiresOnTimestamp: expiresAt };
      },
    };
    const policy = bearerTokenAuthenticationPolicy({ credential, scopes: ['default'] });
    const request = createPipelineRequest({ url: 'https://api.example.com/' });
    const response = { request, status: 200, headers: createHttpHeaders() };
    const next = async () => response;
    return async () => {
      await policy.sendRequest(request, next);
      return request.headers.get('authorization');
    };
  },
  '@scienta/axios-oauth2': (client) => {
    const ask = clientOf(client);
    const cache = new LockingTokenCache();
    return () => cache.getToken(ask);
  },
  auth0: (client) => {
    const provider = tokenProviderOf(client);
    return () => provider.getAccessToken();
  },
  'undici-oidc-interceptor': ({ tokenUrl, clientId, clientSecret }) => {
    const urls = ['https://api.example.com'];
    const intercept = oidcInterceptor({ idpTokenUrl: tokenUrl, clientId, clientSecret, urls });
    const dispatcher = { dispatch: () => true, emit: () => true };
    return () =>
      new Promise((resolve, reject) => {
        const dispatch = intercept(({ headers }) => resolve(headers.authorization));
        const handler = { onResponseError: (_controller, error) => reject(error) };
        dispatch({ origin: urls[0], path: '/', method: 'GET', headers: {}, dispatcher }, handler);
      });
  },
  '@azure/msal-node': ({ tokenUrl, clientId, clientSecret }) => {
    const application = new ConfidentialClientApplication({
      auth: { clientId, clientSecret, authority },
      system: { networkClient: aadNetwork(tokenUrl) },
    });
    return async () => {
      const { accessToken } = await application.acquireTokenByClientCredential({ scopes: ['api/.default'] });
      return accessToken;
    };
  },
  '@azure/identity': ({ tokenUrl, clientId, clientSecret }) => {
    const httpClient = azureHttp(tokenUrl);
    const credential = new ClientSecretCredential(tenant, clientId, clientSecret, {
      httpClient,
      disableInstanceDiscovery: true,
    });
    return getBearerTokenProvider(credential, 'api/.default');
  },
  'axios-jwt': (client) => {
    const kept = new Map();
    const storage = {
      set: async (key, value) => void kept.set(key, value),
      get: async (key) => kept.get(key),
      remove: async (key) => void kept.delete(key),
    };
    const intercept = authTokenInterceptor({
      requestRefresh: async () => (await requestToken(client)).value,
      getStorage: () => storage,
    });
    kept.set(`auth-tokens-${process.env.NODE_ENV}`, JSON.stringify({ accessToken: '', refreshToken: 'none' }));
    return async () => {
      const { headers } = await intercept({ headers: {} });
      return headers.Authorization;
    };
  },
};
