/** The part of fetch that a token request uses. */
export type TokenFetch = (url: string, init: TokenRequestInit) => Promise<FetchedResponse>;

/** The init of a token request. */
export interface TokenRequestInit {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  redirect: 'manual';
}

/** The part of a response that is read. The types of undici's fetch differ from those of the global one. */
export interface FetchedResponse extends Pick<Response, 'status' | 'type' | 'ok' | 'text'> {
  readonly headers: { get(name: string): string | null };
  /** A web stream, or a stream of Node as with node-fetch. Without either, `text()` is called. */
  readonly body?: { getReader(): BodyReader } | AsyncIterable<unknown> | null | undefined;
}

/** Reads a body in chunks, of which none is text. */
export interface BodyReader {
  read(): Promise<{ done?: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(): Promise<unknown>;
}
