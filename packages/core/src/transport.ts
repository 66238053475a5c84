/** One HTTP request to the token endpoint. `body` contains the client secret: do not log it. */
export interface TransportRequest {
  readonly url: string;
  readonly method: 'POST';
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted at the deadline (`timeoutMs`), which covers the time from connecting to the last byte of the answer. */
  readonly signal: AbortSignal;
}

/** The answer to a {@link TransportRequest}. */
export interface TransportResponse {
  readonly status: number;
  /** Looked up by lower-case name: a plain object, or anything with `get(name)` such as `Headers`. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>> | { get(name: string): string | null };
  /**
   * The decoded text, or a promise of it, so that core knows the status before the body has arrived: the body of an answer without success
   * is awaited for two seconds. Core rejects more than 65,536 characters; a transport should stop reading there.
   */
  readonly body: string | Promise<string>;
}

/**
 * Sends one request and resolves with whatever was answered, errors of HTTP included.
 *
 * Must not follow redirects and must not retry: a second POST may issue a second token.
 * Rejects when there is no complete answer. The rejection counts as a token that may have been issued, unless it is evidence that no byte
 * was sent: an error, a `cause` of one or every one of its `errors` has `syscall: 'connect'` or `'getaddrinfo'`, as Node's errors have, or
 * is what a runtime says of a connection that was never made.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
