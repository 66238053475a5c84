/** Where tokens are requested, and what they are counted under. */
export interface TokenAddress {
  /** Empty if only the issuer is known. */
  readonly tokenUrl: string;
  /** The name of the server at which a client id has one limit: the issuer, or else the token endpoint. All spellings of an address have one name. */
  readonly endpoint: string;
}

/** The names and values of a token request's parameters. A name may repeat. */
export type TokenParameters = readonly (readonly [name: string, value: string])[];

// A secret must not be one of the parameters, because the record and events name them.
const reserved =
  /^(grant_type|client_id|audience|scope|resource|code|username|refresh_token)$|secret|password|assertion/i;

/** Returns whether a parameter is set by something else, or must not be set. */
export function isReserved(name: string): boolean {
  return reserved.test(name);
}

/**
 * Returns the name of a token in the record: the audience, if nothing else is asked for. If more is, a line for each parameter follows; then the first line
 * is empty without an audience. No value has a line end, so no two requests have one name.
 */
export function tokenNameOf(audience: string | undefined, others: TokenParameters): string {
  const lines = others.map(([name, value]) => `${name}=${value}`);
  return lines.length === 0 && audience !== undefined ? audience : [audience ?? '', ...lines, ''].join('\n');
}

/** Returns the name of a token as people see it: on one line. */
export function shownTokenName(name: string): string {
  return name.includes('\n') ? name.split('\n').filter(Boolean).join(' ') || '(none)' : name;
}
