import { generateKeyPairSync, type JsonWebKey, X509Certificate } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { fetchTransport } from '@service-auth/core';
import {
  clientAssertion,
  clientSecretBasic,
  clientSecretPost,
  privateKeyJwt,
  tlsClientAuth,
} from '@service-auth/core/oauth2';
import { listen } from '@service-auth/test-tools/servers/listen';
// @ts-expect-error: it brings no types.
import Provider, { errors } from 'oidc-provider';
import { generate } from 'selfsigned';
import { Agent, fetch as undiciFetch } from 'undici';
import type { FormServer } from './form-server.ts';

export const resource = 'https://api.example.com/?tenant=1';
const storeKey = 'a key for the tokens in the store, in all processes';
const secret = 'p%c+t s:l/ash=&of-a-client-of-oidc-provider';
const keys = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  EdDSA: generateKeyPairSync('ed25519'),
};

interface CertifiedServer extends FormServer {
  /** The certificate of the server, and the one of its client `tls`. */
  readonly files: { readonly ca: string; readonly key: string; readonly certificate: string };
}

/** oidc-provider as it is: with forms, scopes, resource indicators (RFC 8707), and all kinds of client authentication. `withTls`: over https, which asks for certificates. */
export async function startOidcForms(withTls: boolean): Promise<CertifiedServer> {
  let handle: RequestListener = () => {};
  let tokenRequests = 0;
  const count: RequestListener = (request, response) => {
    if (request.method === 'POST') tokenRequests += 1;
    handle(request, response);
  };
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const own = { key: certificate.private, cert: certificate.cert };
  const ofClient = await generate([{ name: 'commonName', value: 'client' }]);
  const server = withTls
    ? createHttpsServer({ ...own, requestCert: true, rejectUnauthorized: false }, count)
    : createHttpServer(count);
  const { url, port, close } = await listen(server);
  const issuer = withTls ? `https://localhost:${port}` : url;

  const client = (id: string, method: string, more: object = {}) => ({
    client_id: id,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: method,
    scope: 'read write',
    ...more,
  });
  const publicKeys = Object.entries(keys).map(([alg, { publicKey }]) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid: alg,
  }));
  const clientCertificate = new X509Certificate(ofClient.cert);
  const tlsKey: JsonWebKey = clientCertificate.publicKey.export({ format: 'jwk' });
  const issued = new Map<string, { clientId: string; scope: string }>();
  const provider = new Provider(issuer, {
    clients: [
      client('a client:1', 'client_secret_basic', { client_secret: secret }),
      client('another', 'client_secret_post', { client_secret: secret }),
      client('keys', 'private_key_jwt', { jwks: { keys: publicKeys } }),
      client('tls', 'self_signed_tls_client_auth', {
        jwks: { keys: [{ ...tlsKey, kid: 'tls', x5c: [clientCertificate.raw.toString('base64')] }] },
      }),
    ],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'self_signed_tls_client_auth'],
    scopes: ['read', 'write', 'admin'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      mTLS: {
        enabled: true,
        selfSignedTlsClientAuth: true,
        getCertificate: ({ req }: { req: { socket: TLSSocket } }) => req.socket.getPeerX509Certificate?.(),
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_: unknown, indicator: string) {
          if (indicator !== resource) throw new errors.InvalidTarget();
          return { scope: 'read write admin', audience: resource, accessTokenTTL: 600, accessTokenFormat: 'opaque' };
        },
      },
    },
  });
  provider.on('client_credentials.saved', (token: { jti: string; clientId: string; scope?: string }) => {
    issued.set(token.jti, { clientId: token.clientId, scope: token.scope ?? '' });
  });
  handle = provider.callback();

  const agent = new Agent({ connect: { ca: certificate.cert, key: ofClient.private, cert: ofClient.cert } });
  const send: typeof undiciFetch = (url, init) => undiciFetch(url, { ...init, dispatcher: agent });
  const common = {
    tokenEndpoint: `${issuer}/token`,
    issuer,
    ...(withTls && { transport: fetchTransport({ fetch: send as never }) }),
  };
  const signed = (alg: keyof typeof keys) =>
    privateKeyJwt({
      key: String(keys[alg].privateKey.export({ format: 'pem', type: 'pkcs8' })),
      keyId: alg,
      ...(alg === 'RS256' && { algorithm: 'RS256' }),
    });
  const secretive = { ...common, clientSecret: secret };
  const keyed = { ...common, clientId: 'keys', storeKey };
  /** An assertion that somebody else made. */
  const assertion = async () => {
    const request = { clientId: 'keys', clientSecret: undefined, tokenEndpoint: '', issuer, parameters: [] };
    const signal = AbortSignal.timeout(1_000);
    const written = await signed('ES256').write({ ...request, now: Date.now(), signal });
    return new URLSearchParams(written.body).get('client_assertion') ?? '';
  };

  return {
    clients: {
      client_secret_basic: { ...secretive, clientId: 'a client:1', clientAuthentication: clientSecretBasic() },
      client_secret_post: { ...secretive, clientId: 'another', clientAuthentication: clientSecretPost() },
      'private_key_jwt, ES256': { ...keyed, clientAuthentication: signed('ES256') },
      'private_key_jwt, RS256': { ...keyed, clientAuthentication: signed('RS256') },
      'private_key_jwt, EdDSA': { ...keyed, clientAuthentication: signed('EdDSA') },
      'an assertion': { ...keyed, clientAuthentication: clientAssertion(assertion) },
      ...(withTls && {
        self_signed_tls_client_auth: { ...common, clientId: 'tls', storeKey, clientAuthentication: tlsClientAuth() },
      }),
    },
    files: { ca: certificate.cert, key: ofClient.private, certificate: ofClient.cert },
    get tokenRequests() {
      return tokenRequests;
    },
    find: async (token) => issued.get(token),
    async close() {
      await agent.close();
      await close();
    },
  };
}
