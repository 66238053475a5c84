import type { AccessToken } from './access-token.ts';

/** Options of {@link TokenSource.getToken}. */
export interface GetTokenOptions {
  /**
   * Ends the wait of this caller alone: the call rejects with the signal's `reason`. Default: none.
   */
  signal?: AbortSignal | undefined;
  /**
   * The life that the token should have left, in milliseconds: for a job that takes longer than a
   * usual request. A token with less life is renewed first, and the caller waits for the renewal,
   * unless the token has lived for less than a twentieth of its life: another one would hardly live
   * longer. Then, and if the renewal is refused or fails, the present token is returned: compare
   * its `expiresAt`. Default 0: no renewal is awaited.
   */
  minLifeMs?: number | undefined;
  /**
   * The longest time that this caller waits, in milliseconds. Then the call rejects with
   * `ERR_TOKEN_PENDING`, which names the cause of the wait, and the attempt to get a token goes on.
   * A wait because of `minLifeMs` ends then, too: the present token is returned. Default: no limit
   * but that of the attempt.
   */
  maxWaitMs?: number | undefined;
}

/** The part of a {@link ServiceAuth} that an HTTP adapter needs. */
export interface TokenSource {
  /**
   * The address under which the token may be sent. Undefined: `covers()` is always false, and HTTP
   * adapters refuse the client.
   */
  readonly baseUrl?: string | undefined;
  /**
   * Returns whether the token may be sent to the absolute `url`: to the origin of `baseUrl`, at or
   * below its path. Always false without `baseUrl`, and for the token endpoint of this client.
   */
  covers(url: string | URL): boolean;
  /**
   * Returns a token with at least 60 seconds of life left, or a tenth of the lifetime that the
   * endpoint stated last if that is less.
   * @throws every code in `docs/errors.md`; the reason of `signal` if that aborts
   */
  getToken(options?: GetTokenOptions): Promise<AccessToken>;
  /**
   * Returns the token that `getToken()` would return without I/O. Undefined: `getToken()` would
   * need I/O.
   */
  peekToken(): AccessToken | undefined;
  /**
   * Reports that the API answered 401 to `token`. The next `getToken()` returns a newer token if
   * the fleet has one. If not, it requests one, unless the last such renewal of this audience was
   * too recent: they are 1, 2, 4 … 60 minutes apart. Then it returns the same token again. Never
   * rejects.
   */
  invalidate(token: AccessToken): Promise<void>;
  /**
   * Reports that the API accepted `token`: its answer was no rejection. If the API answers 401 to
   * it later, the token died, and its renewal does not wait for earlier ones. HTTP adapters call it
   * after each such answer; the first call for a token counts. Never throws.
   */
  reportAccepted?(token: AccessToken): void;
  /**
   * Reports that a request to an address that `covers()` had an `Authorization` of its own, so it
   * was sent without the token. The first report causes the event `token_bypassed` and a warning on
   * standard error. HTTP adapters call it. Never throws.
   */
  reportBypass?(): void;
}
