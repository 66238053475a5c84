import type { Clock } from '../platform/clock.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import type { ServiceAuthEventListener } from './events.ts';
import type { IssuanceLimit } from './issuance-limit.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';

/** Options of `createServiceAuth`. */
export interface ServiceAuthOptions {
  /**
   * The address of the authorization server: https, or http on loopback. Tokens are requested from
   * `{authUrl}/oauth/token`.
   */
  authUrl?: string | URL | undefined;
  /**
   * In place of `authUrl`, the whole address of the token endpoint. It may have a query, but no
   * parameters of the token request in it, and no secret. The query names the token in the record
   * and in events, and clients with different queries share no token.
   */
  tokenEndpoint?: string | URL | undefined;
  /**
   * The issuer identifier of the authorization server (RFC 8414), as the server writes it.
   * Assertions are addressed to it, and the tokens of a client id are counted under it. Nothing is
   * sent to it. Default: none, and tokens are counted under the token endpoint, whatever its query
   * is.
   */
  issuer?: string | undefined;
  /**
   * The address of the API. Adapters send the token only to this origin, at or below this path.
   * Default: none, and HTTP adapters refuse the client.
   */
  baseUrl?: string | URL | undefined;
  /**
   * The identifier of the API, from the service's settings: 1 to 512 characters. It may be missing
   * with `tokenEndpoint` or `clientAuthentication`.
   */
  audience?: string | undefined;
  /**
   * The scopes of the token (RFC 6749 section 3.3): a text that is sent as it is, or a list: at
   * most 4,096 characters. Clients that request the same scopes, in whatever order, share a token.
   */
  scope?: string | readonly string[] | undefined;
  /** The resources that the token is for (RFC 8707): absolute URIs. */
  resource?: string | readonly string[] | undefined;
  /**
   * Further parameters of the token request: names and values of at most 4,096 characters, but none
   * that the grant, the client or another option sets. They name the token in the record and in
   * events, so they are no place for a secret.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * How the client authenticates: the result of one of the functions of
   * `@service-auth/core/oauth2`. The request is then a form. Default: JSON with the client secret.
   */
  clientAuthentication?: ClientAuthentication | undefined;
  /**
   * Further values of `token_type` that mean a bearer token, such as `Application Access Token`.
   * `Bearer` in any case is always accepted.
   */
  recognizedTokenTypes?: readonly string[] | undefined;
  /**
   * The longest lifetime of a token that is believed, and that of a token whose answer has no
   * `expires_in`: 60,000 to 2,678,400,000 ms (31 days). Give it if the API ends tokens earlier than
   * the endpoint says. Default: the lifetime of a JWT, or 24 hours; a stated lifetime is believed
   * up to 31 days.
   */
  lifetimeMs?: number | undefined;
  /**
   * Further headers of the token request, such as the `x-api-key` of a gateway: names in any case
   * (RFC 9110 section 5.1), and values of 1 to 4,096 visible ASCII characters and spaces. They may
   * replace `Accept`. They must not be `Authorization`, `Cookie`, `Host`, `Content-Type`, or a
   * header that describes the body or the connection. Their values are secret: no error, event or
   * record has one. Clients with different headers share token and count. Default: none.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The word before the token in `token.authorization` (RFC 9110 section 11.1), such as
   * `Zoho-oauthtoken`: 1 to 64 characters. It is not stored: processes with different schemes share
   * a token. Default `Bearer`.
   */
  scheme?: string | undefined;
  /** The identifier of the client, from the service's settings: 1 to 512 characters. */
  clientId: string;
  /**
   * The client secret, 1 to 4,096 characters, or a function that returns it. The function is called
   * before each attempt that may request a token. If it fails, or does not answer within
   * `timeoutMs`, callers without a token get `ERR_CLIENT_SECRET`.
   */
  clientSecret?: string | (() => string | Promise<string>) | undefined;
  /**
   * The agreement with the provider. Default: 150 tokens in 24 hours. `'unlimited'`: there is none,
   * so no request is refused for it, but tokens are still counted. `'inherit'` is for tools of
   * people, which must not change the agreement of a fleet: the client states no agreement and
   * keeps the one that was stated last in the record, however long ago. If the record has none, it
   * keeps to the default.
   */
  issuanceLimit?: IssuanceLimit | 'inherit' | 'unlimited' | undefined;
  /**
   * The store of the record. Default: one store in the memory of this process, for all clients
   * without this option. The record is lost when the process ends. With a `clock` the default is a
   * `memoryStore()` of this client alone.
   */
  store?: Store | undefined;
  /** Sends token requests. Default `fetchTransport()`. */
  transport?: Transport | undefined;
  /**
   * The deadline of a token request, from connecting to the last byte of the answer: 1 to 300,000
   * ms. Default 30,000.
   */
  timeoutMs?: number | undefined;
  /**
   * The key material that encrypts tokens in the store: at least 32 characters or bytes. Default:
   * the client secret. A client without a secret needs it for every store but that of the process.
   */
  storeKey?: string | Uint8Array | undefined;
  /** Allows http: for hosts other than loopback. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /**
   * The name of this process in events and in `getUsage().issuances`: 1 to 64 characters. Default:
   * a random id for each client.
   */
  instance?: string | undefined;
  /** Receives every event. Default: none. */
  onEvent?: ServiceAuthEventListener | undefined;
  /**
   * Keeps the I/O of a request going until `work` settles. Set it in runtimes that end I/O with the
   * request that began it. In Cloudflare Workers: `import { waitUntil } from 'cloudflare:workers'`.
   * Without it no token is renewed ahead of its expiry there. Default: none.
   */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}

/**
 * Options of {@link ServiceAuth.for}: which token it is, and where it may go. One that is left out,
 * or undefined, is that of the client.
 */
export interface TokenOptions {
  /** The identifier of the API: 1 to 512 characters. */
  audience?: string | undefined;
  /** The scopes of the token: a text, or a list. They replace those of the client. */
  scope?: string | readonly string[] | undefined;
  /**
   * The resources that the token is for (RFC 8707): absolute URIs. They replace those of the
   * client.
   */
  resource?: string | readonly string[] | undefined;
  /** Further parameters of the token request. They replace those of the client. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /** The address of the API. Adapters send this token only to its origin, at or below its path. */
  baseUrl?: string | URL | undefined;
}
