import type { Clock } from '../platform/clock.ts';
import type { ServiceAuthEventListener } from './events.ts';
import type { IssuanceLimit } from './issuance-limit.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';

/** Options of `createServiceAuth`. */
export interface ServiceAuthOptions {
  /** The address of the authorization server: https, or http on loopback. Tokens are requested from `{authUrl}/oauth/token`. */
  authUrl: string | URL;
  /** The address of the API. Adapters send the token only to this origin, at or below this path. Default: none, and HTTP adapters refuse the client. */
  baseUrl?: string | URL | undefined;
  /** The identifier of the API, from the service's settings: 1 to 512 characters. */
  audience: string;
  /** The identifier of the client, from the service's settings: 1 to 512 characters. */
  clientId: string;
  /** The client secret, 1 to 4,096 characters, or a function that returns it. The function is called before each attempt that may request a token. If it fails, or does not answer within `timeoutMs`, callers without a token get `ERR_CLIENT_SECRET`. */
  clientSecret: string | (() => string | Promise<string>);
  /**
   * The agreement with the operator. Default: 150 tokens in 24 hours. `'inherit'` is for tools of people, which must not change the agreement of a fleet:
   * the client states none and keeps the one that was stated last in the record, however long ago. If the record has none, it keeps to the default.
   */
  issuanceLimit?: IssuanceLimit | 'inherit' | undefined;
  /**
   * The store of the record. Default: one store in the memory of this process, for all clients without this option. The record is lost when the
   * process ends. With a `clock` the default is a `memoryStore()` of this client alone.
   */
  store?: Store | undefined;
  /** Sends token requests. Default `fetchTransport()`. */
  transport?: Transport | undefined;
  /** The deadline of a token request, from connecting to the last byte of the answer: 1 to 300,000 ms. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The key material that encrypts tokens in the store: at least 32 characters or bytes. Default: the client secret. */
  storeKey?: string | Uint8Array | undefined;
  /** Allows http: for hosts other than loopback. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /** The name of this process in events and in `getUsage().issuances`: 1 to 64 characters. Default: a random id for each client. */
  instance?: string | undefined;
  /** Receives every event. Default: none. */
  onEvent?: ServiceAuthEventListener | undefined;
  /**
   * Keeps the I/O of a request going until `work` settles. Set it in runtimes that end I/O with the request that began it. In Cloudflare Workers:
   * `import { waitUntil } from 'cloudflare:workers'`. Without it no token is renewed ahead of its expiry there. Default: none.
   */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}
