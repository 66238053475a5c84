import type { Clock } from '@service-auth/core';
import { systemClock } from '../clock/system-clock.ts';
import { createActivity } from './activity.ts';
import { createApi, type RecordedApiRequest } from './api.ts';
import { clientKey, createAssertionCheck, type TestClientAuthentication } from './client-authentication.ts';
import { createClientRegistry, type TestClient, type TestCredentials } from './client-registry.ts';
import { clientSettings, type TestClientOptions } from './client-settings.ts';
import { createIssuanceLog, type IssuedToken, type TestIssuanceLimit } from './issuance-log.ts';
import { type Exchange, jsonAnswer, startLoopbackServer, unscripted } from './loopback-server.ts';
import { quotaHeader } from './quota-header.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { Script, ScriptedAnswer } from './script.ts';
import { createSecretFinder, type SecretKind } from './secret-finder.ts';
import { signingKey } from './signing-key.ts';
import { createTokenEndpoint, type RecordedTokenRequest, type ScriptedTokenAnswer } from './token-endpoint.ts';

/** Options of {@link startTestService}. */
export interface TestServiceOptions {
  /**
   * The clients that the service knows. Default: one client with the credentials
   * `service.credentials`.
   */
  clients?: readonly TestClient[] | undefined;
  /** The audience that the API accepts. Default: the first audience of the first client. */
  audience?: string | undefined;
  /**
   * How clients authenticate. With it the token endpoint wants a form, and knows `scope` and
   * further parameters; an `audience` may be missing. Basic has to be form-encoded, and an
   * assertion signed by `privateKey` for the issuer `{url}/`. Default: JSON with the client secret.
   */
  clientAuthentication?: TestClientAuthentication | undefined;
  /** The limit for each client. Default 150 tokens in any 24 hours. */
  issuanceLimit?: TestIssuanceLimit | undefined;
  /**
   * Sends `Auth0-Client-Quota-Limit` with every answer to a client that the service knows: what it
   * counts in the present UTC day, or UTC hour if that is the window of `issuanceLimit`. `foreign`:
   * so many more tokens, as if somebody without your store had got them; default 0. Default: no
   * such header.
   */
  quota?: { readonly foreign?: number | undefined } | undefined;
  /** The lifetime of tokens in milliseconds, a multiple of 1,000. Default 86,400,000 (24 hours). */
  lifetimeMs?: number | undefined;
  /** The clock for tokens, windows and delays. Default: the system's clocks. */
  clock?: Clock | undefined;
  /** The port on 127.0.0.1. Default 0: a free port. */
  port?: number | undefined;
}

/** The counts of the service. */
export interface TestServiceCounts {
  /** The number of issued tokens, including those whose answer never arrived. */
  readonly issued: number;
  /** The number of token requests that were answered 429 because the limit was reached. */
  readonly refused: number;
  /**
   * The number of token requests that were malformed or had wrong credentials.
   * `service.tokenRequests` lists the mistakes.
   */
  readonly rejected: number;
  /** The number of all requests to the token endpoint. */
  readonly tokenRequests: number;
  /** The number of all requests to the API. */
  readonly apiRequests: number;
  /** The number of requests that the API answered with 401. */
  readonly apiUnauthorized: number;
  /** The number of connections that are open now, to the token endpoint and to the API. */
  readonly connections: number;
}

/** The service on loopback. */
export interface TestService extends AsyncDisposable {
  /** `http://127.0.0.1:port`: the origin of the token endpoint and of the API. */
  readonly url: string;
  /**
   * The token endpoint is `{authUrl}/oauth/token`, its keys are `{authUrl}/.well-known/jwks.json`.
   */
  readonly authUrl: string;
  /** The API is `{baseUrl}/api/v1/`. */
  readonly baseUrl: string;
  /** The credentials of the first client. */
  readonly credentials: TestCredentials;
  /** The key with which every client signs its assertions: P-256, in PKCS #8 as PEM. */
  readonly privateKey: string;
  /** The options for `createServiceAuth`. */
  readonly options: TestClientOptions;
  /**
   * The same as variables for `createServiceAuthFromEnv`, such as in a child process. They have no
   * clock.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Scripts the answers of the token endpoint. */
  readonly tokenEndpoint: Script<RecordedTokenRequest, ScriptedTokenAnswer>;
  /** Scripts the answers of the API. */
  readonly api: Script<RecordedApiRequest, ScriptedAnswer>;
  /** A snapshot of the counts. */
  readonly counts: TestServiceCounts;
  readonly issuances: readonly IssuedToken[];
  readonly tokenRequests: readonly RecordedTokenRequest[];
  readonly apiRequests: readonly RecordedApiRequest[];
  /**
   * Resolves when `condition` is true for the counts. It is checked again whenever a request
   * arrives or was handled.
   */
  until(condition: (counts: TestServiceCounts) => boolean): Promise<void>;
  /**
   * Makes the API reject a token from now on: the one with this value, or with `'all'` every token
   * issued so far.
   */
  revoke(token: string): void;
  /**
   * Replaces the secret of a client. If a list is given, all its secrets are valid. Default: the
   * first client.
   */
  setClientSecret(clientSecret: string | readonly string[], clientId?: string): void;
  /**
   * Returns the kinds of secrets of this service that `text` contains, whole or in part, for tests
   * of leaks.
   */
  findSecrets(text: string): SecretKind[];
  /**
   * Closes all connections, including those of paused requests. Rejects with the error of a
   * scripted function, if one threw.
   */
  close(): Promise<void>;
}

/**
 * Starts the service on 127.0.0.1 as its interface describes it: the token endpoint, the key set
 * and the API.
 */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { clock = systemClock, issuanceLimit = {}, lifetimeMs = 86_400_000, clientAuthentication } = options;
  const { privateKey, publicKey } = await clientKey();
  const issuer = () => `${server.url}/`;
  const log = createIssuanceLog(issuanceLimit);
  const revoked = new Set<string>();
  const secrets = createSecretFinder();
  const clients = createClientRegistry(options.clients, secrets.addClientSecret);
  const { credentials } = clients;
  const activity = createActivity();
  let apiUnauthorized = 0;

  const tokenEndpoint = createTokenEndpoint({
    clock,
    clients,
    log,
    lifetimeMs,
    issuer,
    authentication: clientAuthentication,
    quota: options.quota && quotaHeader(log, issuanceLimit, options.quota),
    assertions: createAssertionCheck(publicKey, issuer),
    onIssued: secrets.addToken,
  });
  const api = createApi({
    audience: options.audience ?? credentials.audience,
    claimsOf: secrets.claimsOf,
    isRevoked: (tokenId) => revoked.has(tokenId),
    onUnauthorized: () => {
      apiUnauthorized++;
    },
  });

  function counts(): TestServiceCounts {
    const outcomes = tokenEndpoint.requests.map(({ outcome }) => outcome);
    return {
      issued: log.issuances.length,
      refused: outcomes.filter((outcome) => outcome === 'refused').length,
      rejected: outcomes.filter((outcome) => outcome === 'rejected').length,
      tokenRequests: outcomes.length,
      apiRequests: api.requests.length,
      apiUnauthorized,
      connections: server.connections,
    };
  }

  async function route(request: ReceivedRequest): Promise<Exchange> {
    const [pathname = ''] = request.path.split('?', 1);
    if (pathname === '/oauth/token') return tokenEndpoint.exchange(request);
    if (pathname.startsWith('/api/v1/')) return api.exchange(request);
    if (pathname === '/.well-known/jwks.json') {
      return unscripted(jsonAnswer(200, { keys: [(await signingKey()).publicKey] }));
    }
    return unscripted(
      jsonAnswer(404, { error: 'not_found', message: 'The API of the test service is under /api/v1/.' }),
    );
  }

  const server = await startLoopbackServer(clock, route, activity.notify, options.port);

  return {
    url: server.url,
    authUrl: server.url,
    baseUrl: server.url,
    credentials,
    privateKey,
    ...clientSettings({
      url: server.url,
      issuer: issuer(),
      credentials,
      privateKey,
      clientAuthentication,
      clock: options.clock,
      issuanceLimit: options.issuanceLimit,
    }),
    tokenEndpoint: tokenEndpoint.script,
    api: api.script,
    get counts() {
      return counts();
    },
    issuances: log.issuances,
    tokenRequests: tokenEndpoint.requests,
    apiRequests: api.requests,
    until: (condition) => activity.until(() => condition(counts())),
    revoke(token) {
      if (token === 'all') {
        for (const { tokenId } of log.issuances) revoked.add(tokenId);
        return;
      }
      const tokenId = secrets.claimsOf(token)?.jti;
      if (tokenId === undefined) throw new Error('Only a token that this service issued can be revoked.');
      revoked.add(tokenId);
    },
    setClientSecret: (clientSecret, clientId = credentials.clientId) => clients.setSecret(clientId, clientSecret),
    findSecrets: secrets.find,
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}
