/** Where a request came in: on loopback or a unix socket, on the address of `--listen`, or on that of `--observe`. */
export type Entrance = 'local' | 'network' | 'observe';

/** A request up to its body, as it was sent. */
export interface RequestHead {
  readonly method: string;
  /** The request target as it was sent (RFC 9112 section 3.2). */
  readonly target: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
}

/** Every value of a header. Node drops or joins some that were sent twice, and a guard must see them all. */
export function valuesOf({ rawHeaders }: Pick<RequestHead, 'rawHeaders'>, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
