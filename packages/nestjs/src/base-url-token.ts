/** The injection token of a client's `baseUrl`, which its HttpService takes as default. */
export function getBaseUrlToken(name?: string): string {
  return name === undefined ? 'service-auth base URL' : `service-auth base URL:${name}`;
}
