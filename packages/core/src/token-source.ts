import type { AccessToken } from './access-token.ts';
import type { ResetOptions, ResetResult, RetryResult } from './administration.ts';
import type { ServiceAuthEventListener, SubscribeOptions } from './events.ts';
import type { Usage } from './usage.ts';

/** Options of {@link TokenSource.getToken}. */
export interface GetTokenOptions {
  /** Ends the wait of this caller alone: the call rejects with the signal's `reason`. Default: none. */
  signal?: AbortSignal | undefined;
  /**
   * The life that the token should have left, in milliseconds: for a job that takes longer than a usual request. A token with less is renewed first, and
   * the caller waits for that, unless it has lived for less than a twentieth of its life: another one would hardly live longer. Then, and if the renewal
   * is refused or fails, the present token is returned: compare its `expiresAt`. Default 0: no renewal is awaited.
   */
  minLifeMs?: number | undefined;
}

/** The part of a {@link ServiceAuth} that an HTTP adapter needs. */
export interface TokenSource {
  /** The address under which the token may be sent. Undefined: `covers()` is always false, and HTTP adapters refuse the client. */
  readonly baseUrl?: string | undefined;
  /** Returns whether the token may be sent to the absolute `url`: to the origin of `baseUrl`, at or below its path. Always false without `baseUrl`. */
  covers(url: string | URL): boolean;
  /**
   * Returns a token with at least 60 seconds of life left, or a tenth of the lifetime that the endpoint stated last if that is less.
   * @throws every code in `docs/errors.md`; the reason of `signal` if that aborts
   */
  getToken(options?: GetTokenOptions): Promise<AccessToken>;
  /** Returns the token that `getToken()` would return without I/O. Undefined: `getToken()` would need I/O. */
  peekToken(): AccessToken | undefined;
  /**
   * Reports that the API answered 401 to `token`. The next `getToken()` returns a newer token if the fleet has one. If not, it requests one, unless the
   * last such renewal of this audience was too recent: they are 1, 2, 4 … 60 minutes apart. Then it returns the same token again. Never rejects.
   */
  invalidate(token: AccessToken): Promise<void>;
  /**
   * Reports that a request to an address that `covers()` had an `Authorization` of its own, so it was sent without the token. The first report causes
   * the event `token_bypassed` and a warning on standard error. HTTP adapters call it. Never throws.
   */
  reportBypass?(): void;
}

/** A client of the service for one audience and one client id. All clients with the same client id share one budget. */
export interface ServiceAuth extends TokenSource {
  /**
   * Reports that the token is compromised. When this has resolved, no `getToken()` of this process returns it, and 30 seconds later none of a process that can read the store.
   * The API still accepts the token until it expires or the operator revokes it. The token is dropped even if no replacement can be issued now: the
   * result says when one can. `getUsage().available.reset` says it before. If the fleet knows no token of the audience, no reset is written.
   * The token is the one that this process serves, which `peekToken()` returns. If another process reset it before, its replacement stays in use, so many
   * processes may report one token. If this process serves none, the token is whatever the fleet uses.
   * @throws `ERR_STORE` if the record could not be written; this process has dropped the token nevertheless, but the fleet has not.
   *   `ERR_STORE_INTEGRITY`, `ERR_CLIENT_SECRET`, `ERR_CONFIG`, `ERR_CLOSED`
   */
  reset(options?: ResetOptions): Promise<ResetResult>;
  /**
   * Forgets remembered refusals and other holds, for the case that their cause is mended: the next token request of the fleet, of whatever process, is
   * sent in spite of them. If it fails, the holds go on. The limit is kept. Has an effect once in 1, 2, 4 … 60 minutes.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  retryNow(): Promise<RetryResult>;
  /**
   * Returns which tokens of the limit are spent, by which process, when and why, and how many can be had. It reads the store and requests no token.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  getUsage(): Promise<Usage>;
  /**
   * Calls `listener` with each event, as `onEvent` is called, until the returned function is called. There may be any number of listeners. With
   * `operations` the listener gets an event for each operation of the store and for each attempt to get a token, too.
   * @throws `ERR_CONFIG` if `listener` is no function
   */
  subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void;
  /** Ends all waits with `ERR_CLOSED`. If a token request is under way, waits up to 2 seconds until its outcome is in the store. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
