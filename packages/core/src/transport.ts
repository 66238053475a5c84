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
  /** The decoded text; core rejects more than 65,536 characters, a transport should stop reading there. */
  readonly body: string;
}

/**
 * Sends one request and resolves with whatever was answered, errors of HTTP included.
 *
 * Must not follow redirects and must not retry: a second POST may issue a second token.
 * Rejects when there is no complete answer; a `code` of the error (or of its `cause`) such as `ECONNREFUSED` or `ENOTFOUND`
 * tells core that nothing was sent, so that the attempt costs nothing; so does what Deno says instead. Any other rejection counts as a token that may have been issued.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
