import { fileURLToPath } from 'node:url';
import type { Import } from '../harness/footprint.ts';
import { kindOf } from './peers.ts';

const bench = fileURLToPath(new URL('..', import.meta.url));
const peers = fileURLToPath(new URL('../peers/', import.meta.url));

export const handwrittenModule = 'handwritten fetch and cache';
export const core = '@service-auth/core';

/** What a program imports of each. */
const own: Readonly<Record<string, readonly string[]>> = {
  [handwrittenModule]: ['getToken'],
  [core]: ['createServiceAuth'],
  '@service-auth/axios': ['attachServiceAuth'],
  '@service-auth/got': ['serviceAuth'],
  '@service-auth/fetch': ['createAuthFetch'],
  '@service-auth/undici': ['serviceAuthInterceptor'],
  '@service-auth/nestjs': ['ServiceAuthModule'],
  '@service-auth/file': ['fileStore'],
  '@service-auth/redis': ['redisStore'],
  '@service-auth/postgres': ['postgresStore'],
};

const foreign: Readonly<Record<string, readonly string[]>> = {
  oauth4webapi: ['clientCredentialsGrantRequest', 'processClientCredentialsResponse', 'ClientSecretPost'],
  'openid-client': ['clientCredentialsGrant', 'Configuration'],
  '@badgateway/oauth2-client': ['OAuth2Client', 'OAuth2Fetch'],
  'simple-oauth2': ['ClientCredentials'],
  'google-auth-library': ['OAuth2Client'],
  'axios-token-interceptor': ['default'],
  'axios-auth-refresh': ['default'],
  '@scienta/axios-oauth2': ['interceptorFactory', 'clientFactory', 'LockingTokenCache'],
  '@smithy/property-provider': ['memoize'],
  'undici-oidc-interceptor': ['default'],
  '@azure/core-rest-pipeline': ['bearerTokenAuthenticationPolicy'],
  '@azure/msal-node': ['ConfidentialClientApplication'],
  '@azure/identity': ['ClientSecretCredential'],
  auth0: ['ManagementClient'],
};

const hosts: Readonly<Record<string, string>> = {
  '@service-auth/axios': 'axios',
  '@service-auth/got': 'got',
  '@service-auth/undici': 'undici',
  '@service-auth/nestjs': '@nestjs/core',
  'axios-token-interceptor': 'axios',
  'axios-auth-refresh': 'axios',
  '@scienta/axios-oauth2': 'axios',
};

export function importsToCompare(withPeers: boolean): Import[] {
  const of = (names: typeof own, folder: string) =>
    Object.entries(names).map(([name, taken]): Import => {
      const specifier = name === handwrittenModule ? './contenders/handwritten-module.js' : name;
      return { name, kind: kindOf(name), specifier, names: taken, folder, host: hosts[name] };
    });
  return [...of(own, bench), ...(withPeers ? of(foreign, peers) : [])];
}
