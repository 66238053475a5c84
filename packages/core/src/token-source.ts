import type { AccessToken } from './access-token.ts';
import type { Usage } from './usage.ts';

/** Options of {@link TokenSource.getToken}. */
export interface GetTokenOptions {
  /** Ends this caller's wait, and nobody else's: rejects with the signal's `reason`. */
  signal?: AbortSignal | undefined;
}

/** What an HTTP adapter needs of a {@link ServiceAuth}. */
export interface TokenSource {
  /** Whether the token may be sent to `url` (absolute): its origin and path lie within `baseUrl`. Always false without `baseUrl`. */
  covers(url: string | URL): boolean;
  /**
   * A token with at least 60 seconds of life left (a tenth of its lifetime, if that is less).
   * @throws any of the errors in `docs/errors.md`; the reason of `signal` when that aborts
   */
  getToken(options?: GetTokenOptions): Promise<AccessToken>;
  /** The token that `getToken()` would return without asking anybody; undefined if it would have to ask. No I/O. */
  peekToken(): AccessToken | undefined;
  /**
   * The API answered 401 to `token`. The next `getToken()` returns a newer token of the fleet if there is one, or has one issued if the spacing
   * of such renewals allows it (1, 2, 4 … 60 minutes, fleet-wide), or else returns the same token again. Never rejects.
   */
  invalidate(token: AccessToken): Promise<void>;
}

/** A client of the service: one audience, one client id, one budget. */
export interface ServiceAuth extends TokenSource {
  /**
   * This client's token is compromised. Once this resolves, no `getToken()` of this process returns it, and none in the fleet 30 seconds later.
   * The service itself accepts it until it expires or the operator revokes it.
   * @throws `ERR_STORE` when the fleet could not be told; this process has dropped the token all the same
   */
  reset(): Promise<void>;
  /**
   * What of the limit is spent, by whom, when and why. Reads the store, issues nothing.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  getUsage(): Promise<Usage>;
  /** Ends all waits with `ERR_CLOSED`. A token request under way gets up to 2 seconds to be recorded. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
