import type { ServiceAuth, ServiceAuthOptions } from '@service-auth/core';
import type { TestService } from '../service/test-service.ts';

/**
 * Over an `ArrayBuffer`, for those TypeScript versions that tell; before 5.7 the type has no
 * parameter.
 */
type Bytes = ReturnType<typeof Uint8Array.from>;

/**
 * A request body, named by its kind: the harness hands `value` to its client in the way that the
 * client has for this kind. Where the client has none, the harness does what an application would
 * do: a client that takes no `Blob` gets its bytes.
 */
export type HttpClientBody =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly value: Bytes }
  | { readonly kind: 'formData'; readonly value: FormData }
  | { readonly kind: 'blob'; readonly value: Blob }
  | { readonly kind: 'urlSearchParams'; readonly value: URLSearchParams }
  | { readonly kind: 'stream'; readonly value: ReadableStream<Uint8Array> };

/** The kinds of bodies. */
export type HttpClientBodyKind = HttpClientBody['kind'];

/** A request that the contract asks the client to send. */
export interface HttpClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Passed on exactly as it is: some are spelt to deceive. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpClientBody | undefined;
  readonly signal: AbortSignal | undefined;
  /** The client's own timeout, in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Send this one without a token, in the way the adapter has for it. */
  readonly optOut: boolean;
  /**
   * True: receive the answer as a stream, in the client's own way and with its own defaults. A
   * client that has no streams receives it as any other answer.
   */
  readonly streamed: boolean;
}

/** The answer that the client received, with any status. */
export interface HttpClientResponse {
  readonly status: number;
  readonly text: string;
}

/**
 * Says which answers reject the token: for the option `isRejected` of an adapter, which has answers
 * of another type.
 */
export type HttpClientIsRejected = (answer: Pick<HttpClientResponse, 'status'>) => boolean | Promise<boolean>;

/** The argument of a harness, new for each case. */
export interface HttpClientContext {
  readonly service: TestService;
  /**
   * For `createServiceAuth`, as they are. `baseUrl` is for the client, too, if it has a base URL of
   * its own.
   */
  readonly options: ServiceAuthOptions;
  /**
   * For the adapter's option `isRejected`. It is given only with the trait of this name, and only
   * in the cases for it.
   */
  readonly isRejected?: HttpClientIsRejected | undefined;
}

/** An HTTP client with the adapter attached. */
export interface HttpClientSubject {
  readonly auth: ServiceAuth;
  /**
   * Resolves with every HTTP answer; rejects in the client's own way when there is none. Follows
   * redirects, never retries by itself. Where the client follows no redirects, the harness does,
   * and sends each request of the way through the client.
   */
  request(request: HttpClientRequest): Promise<HttpClientResponse>;
  /** Ends the client and `auth`. */
  close(): Promise<void>;
}

/** Connects client and adapter for one case. */
export type ConnectHttpClient = (context: HttpClientContext) => HttpClientSubject | Promise<HttpClientSubject>;

/** The peculiarities of a client. None of them takes a behaviour out of the contract. */
export interface HttpClientTraits {
  /**
   * True: the adapter has an option `isRejected`, and the harness passes on that of its context.
   * The contract has further cases then. Default false.
   */
  readonly isRejected?: boolean | undefined;
  /**
   * Finds our typed error in what the client rejected with. Default: the error itself, or the first
   * of its causes that is one.
   */
  readonly failure?: ((error: unknown) => unknown) | undefined;
  /**
   * Returns the part of a client's own error that the adapter's documentation tells people to log.
   * Default: the error itself.
   */
  readonly printable?: ((error: unknown) => unknown) | undefined;
}
