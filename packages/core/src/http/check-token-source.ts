import type { TokenSource } from '../contract/token-source.ts';

/**
 * Checks the client that an adapter was given. `adapter` is the name of the adapter's package, for
 * the message.
 * @throws `TypeError` if `auth` is no client, or if it has no `baseUrl`: `covers()` would be false
 * for every URL, and no request would have a token
 */
export function checkTokenSource(auth: TokenSource, adapter: string): void {
  let problem: string | undefined;
  if (typeof auth?.covers !== 'function') problem = '`auth` must be a client of createServiceAuth.';
  else if ('baseUrl' in auth && auth.baseUrl === undefined) {
    problem =
      'This client has no baseUrl, so no request would have its token. Set the option baseUrl of createServiceAuth, or ' +
      'SERVICE_BASE_URL (not SERVICE_AUTH_BASE_URL), to the address of the API.';
  }
  if (problem) throw new TypeError(`[service-auth/${adapter}] ${problem}`);
}
