/**
 * Where a request came in. `open`: a unix socket, or a port of loopback with `--no-key`; whoever
 * can connect has the token. `port`: a port of loopback, `network`: the address of `--listen`,
 * `observe`: that of `--observe`.
 */
export type Entrance = 'open' | 'port' | 'network' | 'observe';

/** A request up to its body, as it was sent. */
export interface RequestHead {
  readonly method: string;
  /** The request target as it was sent (RFC 9112 section 3.2). */
  readonly target: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
}

/**
 * Every value of a header. Node drops or joins some that were sent twice, and a guard must see them
 * all. `name`: in lower case.
 */
export function valuesOf({ rawHeaders }: Pick<RequestHead, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index] ?? '';
    // Each request is asked for a dozen of names.
    if (found.length === name.length && found.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
