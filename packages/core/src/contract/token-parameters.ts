/** The names and values of a token request's parameters. A name may repeat. */
export type TokenParameters = readonly (readonly [name: string, value: string])[];

/** The address at which tokens are requested, and the name under which they are counted. */
export interface TokenAddress {
  /** The option that has the address. */
  readonly addressedBy: 'authUrl' | 'tokenEndpoint' | 'issuer';
  /** Empty if only the issuer is known. */
  readonly tokenUrl: string;
  /**
   * The name of the server at which a client id has one limit: the issuer, or else the token
   * endpoint. All spellings of an address have one name.
   */
  readonly endpoint: string;
}

/**
 * Returns the name of a token as people see it: on one line. In the record it has a line for each
 * parameter.
 */
export function shownTokenName(name: string): string {
  return name === '\n' ? '(none)' : name.trim().replaceAll('\n', ' ');
}
