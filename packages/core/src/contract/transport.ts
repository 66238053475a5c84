/** An HTTP request to the token endpoint. `body` contains the client secret, so do not log it. */
export interface TransportRequest {
  readonly url: string;
  readonly method: 'POST';
  /** The headers. Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Aborts at the deadline: `timeoutMs` after the request began, or earlier for the body of an
   * error. The answer must be complete before that.
   */
  readonly signal: AbortSignal;
}

/** The answer to a {@link TransportRequest}. */
export interface TransportResponse {
  readonly status: number;
  /**
   * The headers: an object with names in lower case, or anything with `get(name)` such as
   * `Headers`.
   */
  readonly headers: Readonly<Record<string, string | string[] | undefined>> | { get(name: string): string | null };
  /**
   * The decoded text, or a promise of it. With a promise core knows the status earlier, and waits
   * only two seconds for the body of an error response. Core rejects more than 65,536 characters. A
   * transport should read no more.
   */
  readonly body: string | Promise<string>;
}

/**
 * Sends one request and resolves with the answer, whatever its status is.
 *
 * It must not follow redirects and must not retry: a second POST may issue a second token. It
 * rejects if there is no complete answer. After a rejection a token may have been issued, so one is
 * counted, unless the error is evidence that no byte was sent. That is so if the error, its `cause`
 * or all of its `errors` have `syscall: 'connect'` or `'getaddrinfo'`, as errors of Node have, or
 * if the runtime reports it for a connection that was never established. On Node an error with
 * `status` and `headers`, or with such a `response`, is the answer.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
