import type { ConfigProblem } from './errors.ts';

/** The headers and the body of a token request. */
export interface WrittenRequest {
  /** The headers, `content-type` among them. Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns whether a value is a written request. */
export function isWritten(value: unknown): value is WrittenRequest {
  const { headers, body } = Object(value) as Partial<WrittenRequest>;
  return (
    typeof body === 'string' &&
    Object.values(Object(headers) as object).every((text) => typeof text === 'string') &&
    Object(headers) === headers
  );
}

/** A token request that is not written yet. */
export interface UnwrittenRequest {
  readonly clientId: string;
  /** Undefined: the client has none. */
  readonly clientSecret: string | undefined;
  readonly tokenEndpoint: string;
  readonly issuer: string | undefined;
  /**
   * The names and values of the request's parameters, without those that authenticate the client. A
   * name may repeat.
   */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** The present, in epoch milliseconds. */
  readonly now: number;
  /** Aborts when the request is not sent any more. */
  readonly signal: AbortSignal;
}

/**
 * How a client proves to the token endpoint who it is. The functions of `@service-auth/core/oauth2`
 * create such objects.
 */
export interface ClientAuthentication {
  /** True if it sends the client secret. If false, the client must have none. */
  readonly usesSecret: boolean;
  /** Returns the problems of its own options. `options`: those of the client, unchecked. */
  problems(options: Readonly<Record<string, unknown>>): readonly ConfigProblem[];
  /**
   * Returns a text that identifies the credential: the kind of the authentication, with the secret,
   * the public key, or the subject of the assertion. Core keeps a hash of it, and calls it before
   * each attempt that may request a token: a refused credential waits, and another one is tried at
   * once. It must not contain parts that differ in each request. Default: the client secret.
   */
  credentialId?(request: UnwrittenRequest): string | Promise<string>;
  /** Writes a token request. It is called for each request. If it throws, no request is sent. */
  write(request: UnwrittenRequest): WrittenRequest | Promise<WrittenRequest>;
}
