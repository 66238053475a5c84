import { fileURLToPath } from 'node:url';
import type { Kind } from '../harness/answer.ts';
import type { Import } from '../harness/footprint.ts';

const bench = fileURLToPath(new URL('..', import.meta.url));
const peers = fileURLToPath(new URL('../peers/', import.meta.url));

export const handwrittenModule = 'handwritten fetch and cache';
export const core = '@service-auth/core';

const own: Readonly<Record<string, readonly string[]>> = {
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
  const of = (names: typeof own, kind: Kind, folder: string): Import[] =>
    Object.entries(names).map(([name, taken]) => ({
      name,
      kind,
      specifier: name,
      names: taken,
      folder,
      host: hosts[name],
    }));
  const handwritten: Import = {
    name: handwrittenModule,
    kind: 'handwritten',
    specifier: './contenders/handwritten-module.js',
    names: ['getToken'],
    folder: bench,
    host: undefined,
  };
  return [handwritten, ...of(own, 'ours', bench), ...(withPeers ? of(foreign, 'peer', peers) : [])];
}
